/**
 * Real services of a test's own: a Temporal server on a database file and a Postgres that syncs its
 * commits, started the way the product starts them, and killed without notice when a test says so.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../services/config/config.ts';
import type { Command } from '../../../services/processes/kept-process.ts';
import { choosePort } from '../../../services/processes/ports.ts';
import { locatePostgres } from '../../../services/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../services/postgres/postgres-server.ts';
import { findTemporalBinary, type TemporalBinary } from '../../../services/temporal/temporal-binary.ts';
import { TemporalServer } from '../../../services/temporal/temporal-server.ts';

const startWithinMs = 60_000;
const startAttempts = 10;

interface Server {
  prepare(): Promise<void>;
  command(): Command;
  answers(): Promise<boolean>;
}

/** One server process; `kill` is SIGKILL, and `start` after it goes on with the same data and port. */
export class ServerProcess {
  private child: ChildProcess | null = null;
  private log = '';
  private readonly server: Server;

  constructor(server: Server) {
    this.server = server;
  }

  /** A server that was killed may have left children that hold its data for a moment: then it is tried again. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.server.prepare();
      this.child = this.spawn();
      if (await this.untilItAnswers(this.child)) return;
      if (attempt === startAttempts) throw new Error(`a server did not start: ${this.log.slice(-2000)}`);
      await this.kill();
      await sleep(500);
    }
  }

  private spawn(): ChildProcess {
    const { command, args, ...options } = this.server.command();
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const keep = (chunk: Buffer): void => {
      this.log = `${this.log}${chunk.toString('utf8')}`.slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    return child;
  }

  private async untilItAnswers(child: ChildProcess): Promise<boolean> {
    const until = Date.now() + startWithinMs;
    while (child.exitCode === null && child.signalCode === null && Date.now() < until) {
      if (await this.server.answers()) return true;
      await sleep(50);
    }
    return false;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

export interface Services {
  temporalAddress: string;
  postgresUrl: string;
  temporal: ServerProcess;
  postgres: ServerProcess;
  stop(): Promise<void>;
}

/** The first time on a machine, this downloads or builds it. */
export function obtainTemporal(env: NodeJS.ProcessEnv): Promise<TemporalBinary> {
  const { cacheDir } = readConfig(env);
  return findTemporalBinary({ cacheDir, onProgress: () => undefined, signal: AbortSignal.timeout(25 * 60_000) });
}

export async function startServices(): Promise<Services> {
  const home = mkdtempSync(join(tmpdir(), 'sentinel-server-test-'));
  // Postgres may run as another user, who must be able to enter the folder.
  chmodSync(home, 0o711);
  const binary = await obtainTemporal({ ...process.env, SENTINEL_HOME: home });
  const port = await choosePort([]);
  const uiPort = await choosePort([], new Set([port]));
  const temporalServer = new TemporalServer({ home, namespace: 'default', binary, port, uiPort });
  const programs = await locatePostgres(home);
  const postgresServer = new PostgresServer({ home, programs });
  const temporal = new ServerProcess(temporalServer);
  const postgres = new ServerProcess(postgresServer);
  await Promise.all([temporal.start(), postgres.start()]);
  return {
    temporalAddress: temporalServer.address,
    postgresUrl: postgresServer.url,
    temporal,
    postgres,
    async stop() {
      await Promise.all([temporal.kill(), postgres.kill('SIGINT')]);
      for (const folder of new Set([home, programs.place])) rmSync(folder, { recursive: true, force: true });
    },
  };
}
