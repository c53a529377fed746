/**
 * The stage of a benchmark: a Temporal server and a Postgres of its own in a temporary folder,
 * started exactly as the embedded ones are, and ended with it. Nothing of the user's is touched.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { flushesUnder } from './disk-flushes.ts';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../prisma/store/connection/migrate.ts';
import type { Command } from '../services/processes/kept-process.ts';
import { choosePort } from '../services/processes/ports.ts';
import { locatePostgres } from '../services/postgres/postgres-programs.ts';
import { PostgresServer } from '../services/postgres/postgres-server.ts';
import { findPresentTemporal } from '../services/temporal/temporal-binary.ts';
import { TemporalServer } from '../services/temporal/temporal-server.ts';

const readyWithinMs = 60_000;

export interface Stage {
  folder: string;
  /** A project root with small files to read. */
  project: string;
  address: string;
  databaseUrl: string;
  /** Requests to write what it holds to the disk that the disk under `folder` has completed, of whoever asked; NaN where nobody counts. */
  flushes: () => number;
  /** Processor time both servers have used, with everything they started. */
  serverCpuMs(): { temporal: number; postgres: number };
  end(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const cacheDir = process.env['SENTINEL_CACHE'] ?? join(homedir(), '.cache', 'sentinel');
  const binary = await findPresentTemporal({ cacheDir });
  if (binary === null)
    throw new Error('the benchmark needs the Temporal CLI: run `./sentinel up` once, or put `temporal` on PATH');
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-bench-'));
  // Postgres may run as another user, who has to reach its data in here.
  chmodSync(folder, 0o755);
  const processes: ChildProcess[] = [];
  // An interrupted benchmark leaves no servers behind.
  process.once('exit', () => processes.forEach((child) => child.kill('SIGKILL')));
  const end = async (): Promise<void> => {
    await Promise.all(processes.map((child) => stopped(child)));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'notes.txt'), 'a small file to read\n'.repeat(40));
    const postgres = new PostgresServer({ home: folder, programs: await locatePostgres(folder) });
    const temporal = new TemporalServer({
      home: folder,
      namespace: 'default',
      binary,
      port: await choosePort([]),
      uiPort: await choosePort([]),
    });
    const servers = [
      { name: 'postgres', server: postgres },
      { name: 'temporal', server: temporal },
    ];
    for (const { name, server } of servers) {
      await server.prepare();
      processes.push(await launch(folder, name, server));
    }
    await migrate(postgres.url);
    const pids = processes.map((child) => child.pid ?? 0);
    const serverCpuMs = (): { temporal: number; postgres: number } => ({
      postgres: cpuMs(pids[0] ?? 0),
      temporal: cpuMs(pids[1] ?? 0),
    });
    const flushes = flushesUnder(folder);
    return { folder, flushes, project, address: temporal.address, databaseUrl: postgres.url, serverCpuMs, end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function launch(
  folder: string,
  name: string,
  server: { command(): Command; answers(): Promise<boolean> },
): Promise<ChildProcess> {
  const { command, args, cwd, env, uid, gid } = server.command();
  const log = openSync(join(folder, `${name}.log`), 'a');
  const account = uid === undefined || gid === undefined ? {} : { uid, gid };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', log, log], ...account });
  closeSync(log);
  const deadline = Date.now() + readyWithinMs;
  while (!(await server.answers())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      const said = readFileSync(join(folder, `${name}.log`), 'utf8').slice(-800);
      throw new Error(`${name} did not start for the benchmark: ${said}`);
    }
    await sleep(100);
  }
  return child;
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(timer);
}

const tickMs = 10;

/** User and system time of a process and its children, from Linux's /proc; NaN elsewhere. */
function cpuMs(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter((text) => text !== '');
    const ticks = ownTicks(pid, 4) + children.reduce((sum, child) => sum + ownTicks(Number(child), 2), 0);
    return ticks * tickMs;
  } catch {
    return Number.NaN;
  }
}

/** Fields 14 to 17 of `stat`: own user and system time, then that of children that have ended. */
function ownTicks(pid: number, fields: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const values = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 11 + fields);
  return values.reduce((sum, value) => sum + Number(value), 0);
}
