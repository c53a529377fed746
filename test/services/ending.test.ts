/** SIGTERM and Ctrl-C end each program of ours whatever it waits for: servers that are away or silent, locks, steps. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServicesState, type ServicesState } from '../../services/config/services-state.ts';
import { ensureServices } from '../../services/ensure-services.ts';
import { identifyProcess, isAlive } from '../../services/processes/process-identity.ts';
import { lockHolder } from '../../services/supervisor/supervisor-lock.ts';
import { stopServices } from '../../services/stop-services.ts';
import { freshServices, sentinel, startSentinel, type FreshServices } from './harness/fresh-services.ts';

let services: FreshServices;
let env: NodeJS.ProcessEnv;
let url: URL;
let address: string;
const closing: (() => void)[] = [];

beforeAll(async () => {
  services = await freshServices({ withoutDoor: true });
  env = { ...services.options.env, USER: 'ada' };
  const state = await ensureServices(services.options);
  url = new URL(state.postgres?.url ?? '');
  address = state.temporal?.address ?? '';
}, 120_000);
afterAll(async () => {
  for (const close of closing) close();
  await stopServices(services.options);
  rmSync(services.home, { recursive: true, force: true });
}, 120_000);

/** Takes connections and, once it is frozen, passes nothing on; without a target it never answers. */
async function relay(target?: { path: string }): Promise<{ port: number; freeze: () => void; reached: Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (target === undefined) return;
    const other = connect(target);
    sockets.add(other.on('error', () => undefined));
    socket.pipe(other).pipe(socket);
  });
  const reached = once(server, 'connection').then(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const at = server.address();
  return {
    port: typeof at === 'object' && at !== null ? at.port : 0,
    freeze: () => {
      for (const socket of sockets) socket.unpipe();
    },
    reached,
  };
}

interface Program {
  child: ChildProcess;
  /** Exit code, or the signal that ended it. */
  ended: Promise<number | string | null>;
  says(what: RegExp): Promise<void>;
}

const WORKER = join(import.meta.dirname, '..', '..', 'dist', 'worker', 'main.js');

function watched(child: ChildProcess): Program {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (more: string) => (text += more));
  const ended = once(child, 'close').then(([code, signal]: (number | string | null)[]) => code ?? signal ?? null);
  return { child, ended, says: async (what) => expect.poll(() => text, { timeout: 30_000 }).toMatch(what) };
}

const startWorker = (settings: NodeJS.ProcessEnv): Program =>
  watched(spawn(process.execPath, [WORKER], { env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] }));

describe('a worker that waits', { timeout: 60_000 }, () => {
  const cases: [string, NodeJS.Signals, () => Promise<NodeJS.ProcessEnv>][] = [
    [
      'for a database that is away',
      'SIGTERM',
      () => Promise.resolve({ DATABASE_URL: 'postgres://u@127.0.0.1:1/x', TEMPORAL_ADDRESS: address }),
    ],
    [
      'for a Temporal server that is away',
      'SIGINT',
      () => Promise.resolve({ DATABASE_URL: url.href, TEMPORAL_ADDRESS: '127.0.0.1:1' }),
    ],
  ];
  it.each(cases)('%s ends with %s', async (_title, signal, settings) => {
    const worker = startWorker(await settings());
    await worker.says(/does not answer/);
    worker.child.kill(signal);
    expect(await worker.ended).toBe(0);
  });

  it.each([
    ['database', 'SIGTERM'],
    ['Temporal server', 'SIGINT'],
  ] as const)('for a %s that never answers ends with %s', async (part, signal) => {
    const { port, reached } = await relay();
    const silent =
      part === 'database' ? { DATABASE_URL: `postgres://u@127.0.0.1:${port}/x` } : { DATABASE_URL: url.href };
    const temporal = part === 'database' ? address : `127.0.0.1:${port}`;
    const worker = startWorker({ ...silent, TEMPORAL_ADDRESS: temporal });
    await reached;
    worker.child.kill(signal);
    expect(await worker.ended).toBe(0);
  });

  it('ends when it is the verb "worker", too', async () => {
    const settings = { ...env, DATABASE_URL: 'postgres://u@127.0.0.1:1/x', TEMPORAL_ADDRESS: address };
    const { child, said, text } = startSentinel(settings, ['worker']);
    await expect.poll(text, { timeout: 30_000 }).toMatch(/does not answer/);
    child.kill('SIGINT');
    expect(await said).toMatchObject({ code: 0 });
  });
});

/** A new database, whose migrations another program seems to be applying until `holder` ends. */
async function lockedDatabase(name: string): Promise<{ href: string; holder: Client }> {
  const admin = new Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const locked = new URL(url.href);
  locked.pathname = `/${name}`;
  const holder = new Client({ connectionString: locked.href });
  await holder.connect();
  await holder.query('select pg_advisory_lock(72707369)');
  return { href: locked.href, holder };
}

describe('what waits for a lock', { timeout: 120_000 }, () => {
  it('ends with SIGTERM where it prepares servers', async () => {
    const { href, holder } = await lockedDatabase('unprepared');
    const program = join(import.meta.dirname, '..', '..', 'dist', 'services', 'prepare-external.js');
    const child = spawn(process.execPath, [program], {
      env: { ...env, DATABASE_URL: href, TEMPORAL_ADDRESS: address },
      stdio: 'ignore',
    });
    const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    await expect.poll(async () => (await holder.query(waiting)).rowCount, { timeout: 20_000 }).toBe(1);
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    await holder.end();
  });

  it('ends with "down" where it is the services', async () => {
    const other = await freshServices({ withoutDoor: true });
    const { href, holder } = await lockedDatabase('locked');
    const settings = { ...other.options.env, DATABASE_URL: href };
    try {
      const up = startSentinel(settings, ['up']);
      await expect.poll(up.text, { timeout: 30_000 }).toMatch(/applying migrations/);
      const keeper = lockHolder(other.home);
      expect(await sentinel(settings, 'down')).toMatchObject({ code: 0 });
      expect(keeper !== null && isAlive(keeper)).toBe(false);
      up.child.kill('SIGINT');
      await up.said;
      expect(await sentinel(settings, 'down')).toMatchObject({ code: 0 });
    } finally {
      await holder.end();
      await stopServices(other.options);
      rmSync(other.home, { recursive: true, force: true });
    }
  });
});

const path = (name: string): string => join(services.home, name);
const pidOf = (name: string): number => Number(readFileSync(path(`${name}.pid`), 'utf8'));
const processes = (state: ServicesState | null) =>
  [state?.supervisor, state?.worker?.process, state?.temporal?.process, state?.postgres?.process].flatMap((one) =>
    one ? [one] : [],
  );

async function begin(name: string): Promise<void> {
  const line = `echo $$ > ${name}.pid; while [ ! -e ${name}.go ]; do sleep 0.1; done`;
  const definition = { name, steps: [{ type: 'shell', command: line }], loop: { type: 'once' } };
  writeFileSync(path(`${name}.json`), JSON.stringify(definition));
  expect(await sentinel(env, 'run', `${name}.json`, '--id', name, '--detach')).toMatchObject({ code: 0 });
  await expect.poll(() => existsSync(path(`${name}.pid`)) && pidOf(name) > 0, { timeout: 30_000 }).toBe(true);
}

describe('services whose worker is at a step', { timeout: 240_000 }, () => {
  it('wait for it, say so, and end at once with Ctrl-C', async () => {
    await begin('held');
    const before = processes(readServicesState(services.home));
    const down = startSentinel(env, ['down']);
    await expect
      .poll(down.text, { timeout: 30_000 })
      .toContain('waiting for 1 step, up to 60 s: held steps.0@1; Ctrl-C ends them now');
    // A second "down" is no reason for haste.
    const second = startSentinel(env, ['down']);
    await expect.poll(second.text, { timeout: 30_000 }).toContain('waiting for 1 step');
    expect(before.map((one) => isAlive(one))).not.toContain(false);
    down.child.kill('SIGINT');
    expect(await Promise.all([down.said, second.said])).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(before.map((one) => isAlive(one))).not.toContain(true);
    expect(identifyProcess(pidOf('held'))).toBeNull();
    writeFileSync(path('held.go'), '');
  });

  it('change over at once, and the next worker goes on with its process', async () => {
    await begin('kept');
    const before = readServicesState(services.home);
    const pid = pidOf('kept');
    const other = { ...env, SENTINEL_TASK_QUEUES: 'sentinel,other' };
    expect(await sentinel(other, 'up')).toMatchObject({ code: 0 });
    expect(readServicesState(services.home)).toMatchObject({
      phase: 'ready',
      worker: { taskQueues: ['sentinel', 'other'] },
    });
    expect(readServicesState(services.home)?.supervisor.pid).not.toBe(before?.supervisor.pid);
    expect(identifyProcess(pid)).not.toBeNull();
    writeFileSync(path('kept.go'), '');
    await expect
      .poll(async () => (await sentinel(env, 'status', 'kept')).out, { timeout: 60_000 })
      .toContain('completed');
    expect(pidOf('kept')).toBe(pid);
  });

  it('leave its process to the next services when they are told to keep it', async () => {
    await begin('asked');
    const pid = pidOf('asked');
    expect(await sentinel(env, 'down', '--keep')).toMatchObject({ code: 0 });
    expect(identifyProcess(pid)).not.toBeNull();
    writeFileSync(path('asked.go'), '');
    expect(await sentinel(env, 'up')).toMatchObject({ code: 0 });
    await expect
      .poll(async () => (await sentinel(env, 'status', 'asked')).out, { timeout: 60_000 })
      .toContain('completed');
    expect(pidOf('asked')).toBe(pid);
  });

  it('let go of whoever follows a run when the database falls silent', async () => {
    await begin('followed');
    const { port, freeze } = await relay({ path: readServicesState(services.home)?.postgres?.socket ?? '' });
    const through = new URL(url.href);
    through.host = `127.0.0.1:${port}`;
    through.search = '';
    const { child, said, text } = startSentinel({ ...env, DATABASE_URL: through.href }, ['follow', 'followed']);
    await expect.poll(text, { timeout: 30_000 }).toContain('followed');
    freeze();
    child.kill('SIGINT');
    expect(await said).toMatchObject({
      code: 0,
      err: expect.stringContaining('detaching, the run continues') as string,
    });
    writeFileSync(path('followed.go'), '');
  });
});
