/**
 * The embedded Postgres: a real server with its data under the home, a random password in a file only the
 * owner reads, and settings that answer quickly and still sync every commit. It listens on a socket in a folder
 * that is closed to other users, and on no port.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { makeFolders } from '../home/home-files.ts';
import type { Command } from '../processes/kept-process.ts';
import { accepts } from '../processes/ports.ts';
import { fitsSocket, makePrivateFolder } from '../processes/sockets.ts';
import { type PostgresPrograms, runAs, socketPlaceFor } from './postgres-programs.ts';
import { identifyProcess, stopProcess } from '../processes/process-identity.ts';
import { PORTS } from '../config/ports.ts';

const ROLE = 'sentinel';
const DATABASE = 'sentinel';
/** Part of the socket's name; no port of the machine is taken. */
const SOCKET = `.s.PGSQL.${PORTS.postgres}`;

const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '200',
  shared_buffers: '128MB',
  // Durable: an acknowledged commit survives a crash of the machine.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Quick: nobody replicates from here, short statements gain nothing from compilation, and
  // checkpoints come seldom.
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  checkpoint_timeout: '15min',
  max_wal_size: '1GB',
  // Parallel plans want shared segments, and containers give /dev/shm only 64 MB.
  max_parallel_workers_per_gather: '0',
  logging_collector: 'off',
  log_destination: 'stderr',
};

export class PostgresServer {
  readonly programs: PostgresPrograms;
  readonly dataDir: string;
  readonly password: string;
  /** The folder of the socket: the data itself, unless its path is too long for one. */
  readonly socketFolder: string;

  constructor(options: { home: string; programs: PostgresPrograms }) {
    this.programs = options.programs;
    this.dataDir = join(options.programs.place, 'postgres');
    this.password = keptPassword(join(options.home, 'postgres.password'), this.dataDir);
    this.socketFolder = fitsSocket(this.dataDir, SOCKET)
      ? this.dataDir
      : socketPlaceFor(options.home, this.programs.account);
  }

  get socket(): string {
    return join(this.socketFolder, SOCKET);
  }

  get url(): string {
    return this.urlOf(DATABASE);
  }

  /** `signal` ends the making of a cluster, of which nothing is left then. */
  async prepare(signal?: AbortSignal): Promise<void> {
    if (!existsSync(join(this.dataDir, 'PG_VERSION'))) await this.initialise(signal);
    this.checkVersion();
    await clearStalePidFile(this.dataDir);
    if (this.socketFolder !== this.dataDir) this.openSocketFolder();
  }

  command(): Command {
    return {
      command: this.programs.postgres,
      args: [
        '-D',
        this.dataDir,
        '-p',
        String(PORTS.postgres),
        ...Object.entries({ ...SETTINGS, unix_socket_directories: this.socketFolder }).flatMap(([name, value]) => [
          '-c',
          `${name}=${value}`,
        ]),
      ],
      cwd: '/',
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
      ...this.programs.account,
    };
  }

  /** It answers once our database is there; the first time, that is when it is created. */
  async answers(): Promise<boolean> {
    if (!(await accepts({ path: this.socket }))) return false;
    const client = new Client({ connectionString: this.urlOf('postgres'), connectionTimeoutMillis: 2000 });
    // A server killed under an open connection is reported here too; the query's rejection tells enough.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
      return true;
    } catch {
      // Not yet: the caller asks again until its time is up, then quotes the server's log.
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private urlOf(database: string): string {
    // The port stands there, because clients would take it from PGPORT.
    return `postgresql://${ROLE}:${this.password}@localhost:${PORTS.postgres}/${database}?host=${encodeURIComponent(this.socketFolder)}`;
  }

  private openSocketFolder(): void {
    makePrivateFolder(this.socketFolder, this.programs.account?.uid);
    rmSync(this.socket, { force: true });
    rmSync(`${this.socket}.lock`, { force: true });
  }

  /** Into a draft that is renamed when complete: a cluster half made is never taken for a whole one. */
  private async initialise(signal: AbortSignal | undefined): Promise<void> {
    const { account, initdb, place } = this.programs;
    const draft = `${this.dataDir}.new`;
    const passwordFile = join(place, 'postgres.password.new');
    rmSync(draft, { recursive: true, force: true });
    makeFolders(draft, 0o700);
    writeFileSync(passwordFile, `${this.password}\n`, { mode: 0o600 });
    if (account !== null) {
      for (const path of [draft, passwordFile]) chownSync(path, account.uid, account.gid);
    }
    try {
      const options = `--username ${ROLE} --auth scram-sha-256 --encoding UTF8 --locale C --locale-provider builtin --builtin-locale C.UTF-8`;
      await runAs(account, initdb, [...options.split(' '), '--pgdata', draft, '--pwfile', passwordFile], { signal });
      renameSync(draft, this.dataDir);
    } finally {
      rmSync(passwordFile, { force: true });
    }
  }

  private checkVersion(): void {
    const made = readFileSync(join(this.dataDir, 'PG_VERSION'), 'utf8').trim();
    const [major] = this.programs.version.split('.');
    if (made !== major) {
      throw new Error(
        `${this.dataDir} was made by Postgres ${made} and the installed one is ${this.programs.version}: ` +
          `move the folder away to begin anew, or set DATABASE_URL to a Postgres ${made} that serves it.`,
      );
    }
  }
}

/** Made once; a cluster whose password is lost cannot be opened again, so that is said at once. */
function keptPassword(path: string, dataDir: string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  if (existsSync(join(dataDir, 'PG_VERSION'))) {
    throw new Error(
      `${path} is missing, and ${dataDir} cannot be opened without it: restore that file, or move the folder away to begin anew.`,
    );
  }
  const password = randomBytes(24).toString('hex');
  writeAtomically(path, `${password}\n`);
  return password;
}

/**
 * A killed server leaves its pid file. Postgres removes it itself unless the pid is in use again;
 * then we look whose it is: a server on this very folder, which nobody remembers, is ended first.
 */
async function clearStalePidFile(dataDir: string): Promise<void> {
  const path = join(dataDir, 'postmaster.pid');
  if (!existsSync(path)) return;
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0]);
  const holder = Number.isInteger(pid) && pid > 0 ? identifyProcess(pid) : null;
  if (holder !== null && commandLine(pid).includes(dataDir)) await stopProcess(holder, 'SIGINT', 20_000);
  for (const name of readdirSync(dataDir))
    if (name === 'postmaster.pid' || name.startsWith('.s.PGSQL.')) rmSync(join(dataDir, name), { force: true });
}

function commandLine(pid: number): string {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        });
  } catch {
    // It ended just now.
    return '';
  }
}
