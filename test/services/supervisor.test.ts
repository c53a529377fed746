/**
 * The services' life on a private home with private ports: real Postgres, real Temporal server,
 * real signals. One home for the whole file, because the tests follow one life in order.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOptions, readConfig } from '../../services/config/config.ts';
import { ensureServices, type ServicesOptions } from '../../services/ensure-services.ts';
import { stopServices } from '../../services/stop-services.ts';
import { openConnection } from '../../services/temporal/open-connection.ts';
import { inspectServices } from '../../services/inspect-services.ts';
import { locatePostgres } from '../../services/postgres/postgres-programs.ts';
import { PostgresServer } from '../../services/postgres/postgres-server.ts';
import { isAlive } from '../../services/processes/process-identity.ts';
import { readServicesState, type ServicesState, writeServicesState } from '../../services/config/services-state.ts';
import { lockHolder } from '../../services/supervisor/supervisor-lock.ts';
import { medianMs } from '../elapsed.ts';
import { freshServices } from './harness/fresh-services.ts';

let home: string;
let options: ServicesOptions & { env: NodeJS.ProcessEnv };

beforeAll(async () => {
  ({ home, options } = await freshServices());
}, 60_000);

afterAll(async () => {
  await stopServices(options);
  rmSync(home, { recursive: true, force: true });
}, 120_000);

const processes = (state: ServicesState | null) => {
  const [postgres, temporal] = [state?.postgres?.process, state?.temporal?.process];
  if (!postgres || !temporal) throw new Error('the servers are not recorded');
  return { postgres, temporal };
};

async function query(text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: readConfig(options.env).database.url ?? '' });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}

async function searchAttributes(): Promise<string[]> {
  const connection = await openConnection(connectionOptions(readConfig(options.env)), 10_000);
  try {
    const reply = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    return Object.keys(reply.customAttributes ?? {});
  } finally {
    await connection.close();
  }
}

describe.runIf(process.getuid?.() === 0)('a home that the user of Postgres cannot reach', { timeout: 60_000 }, () => {
  it('keeps its data where that user can', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'sentinel-closed-'));
    const programs = await locatePostgres(closed);
    expect(programs.place).not.toBe(closed);
    const server = new PostgresServer({ home: closed, programs });
    try {
      await server.prepare();
      expect(existsSync(join(programs.place, 'postgres', 'PG_VERSION'))).toBe(true);
      expect(statSync(join(closed, 'postgres.password')).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(programs.place, { recursive: true });
      rmSync(closed, { recursive: true });
    }
  });
});

describe('services that are started', { timeout: 120_000 }, () => {
  it('come up on their sockets, told to the caller, and serve', async () => {
    const said: string[] = [];
    const state = await ensureServices({ ...options, onProgress: (text) => said.push(text) });
    expect(said).toContain('starting the services');
    expect(state.temporal).toMatchObject({
      address: `unix:${join(home, 'sockets', 'temporal.sock')}`,
      webUrl: null,
      port: null,
    });
    expect(state.postgres?.socket).toBe(join(home, 'postgres', '.s.PGSQL.5432'));
    expect(await searchAttributes()).toEqual(
      expect.arrayContaining(['SentinelName', 'SentinelStatus', 'SentinelPersona', 'SentinelIteration']),
    );
    const settings = await query(
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'listen_addresses') ORDER BY name`,
    );
    expect(settings).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '' },
      { name: 'synchronous_commit', setting: 'on' },
    ]);
    expect(
      await query('SELECT count(*)::int AS applied FROM _prisma_migrations WHERE finished_at IS NOT NULL'),
    ).not.toEqual([{ applied: 0 }]);
    await query('CREATE TABLE kept (value text)');
    await query(`INSERT INTO kept VALUES ('before')`);
  });

  it('are found up at once, without starting anything', async () => {
    const first = await ensureServices(options);
    expect(await medianMs(() => ensureServices(options))).toBeLessThan(100);
    expect((await ensureServices(options)).supervisor).toEqual(first.supervisor);
  });
});

describe('services that doctor looks at', { timeout: 120_000 }, () => {
  it('are all found, but for the worker', async () => {
    const report = await inspectServices(options.env);
    const named = (names: string[]) =>
      report.entries.filter(({ name }) => names.includes(name)).map(({ name, ok, port }) => ({ name, ok, port }));
    expect(named(['temporal server', 'search attributes', 'postgres', 'migrations', 'web UI', 'other users'])).toEqual([
      { name: 'temporal server', ok: true, port: undefined },
      { name: 'search attributes', ok: true, port: undefined },
      { name: 'postgres', ok: true, port: undefined },
      { name: 'migrations', ok: true, port: undefined },
      { name: 'web UI', ok: true, port: undefined },
      { name: 'other users', ok: true, port: undefined },
    ]);
    const worker = report.entries.find(({ name }) => name === 'worker');
    expect(worker).toMatchObject({ ok: false, found: 'none on this machine; 0 polled sentinel lately' });
    expect(worker?.remedy).toMatch(/sentinel up/);
    expect(JSON.stringify(report)).not.toContain(new URL(readConfig(options.env).database.url ?? '').password);
  });

  it('are reported, with a remedy, while they are away', async () => {
    const away = await inspectServices({
      ...options.env,
      DATABASE_URL: 'postgres://u@127.0.0.1:1/x',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    });
    const server = away.entries.find(({ name }) => name === 'temporal server');
    const postgres = away.entries.find(({ name }) => name === 'postgres');
    expect(away.ok).toBe(false);
    expect(server).toMatchObject({
      ok: false,
      where: '127.0.0.1:1',
      port: 1,
      remedy: expect.stringContaining('TEMPORAL_ADDRESS') as string,
    });
    expect(postgres).toMatchObject({
      ok: false,
      found: expect.stringMatching(/does not answer: .*ECONNREFUSED/) as string,
    });
    expect(postgres?.remedy).toMatch(/Check that DATABASE_URL is right/);
  });

  it('refuse a wrong password', async () => {
    const url = new URL(readConfig(options.env).database.url ?? '');
    url.password = 'wrong';
    const client = new Client({ connectionString: url.href });
    await expect(client.connect()).rejects.toThrow(/password authentication failed/);
  });
});

describe('services of somebody else', { timeout: 120_000 }, () => {
  it('are prepared and used, and neither started nor stopped', async () => {
    const theirs = await freshServices({ withoutDoor: true });
    const own = await ensureServices(theirs.options);
    const elsewhere = mkdtempSync(join(tmpdir(), 'sentinel-external-'));
    const external = {
      ...options,
      env: {
        ...options.env,
        SENTINEL_HOME: elsewhere,
        TEMPORAL_ADDRESS: own.temporal?.address ?? '',
        DATABASE_URL: own.postgres?.url ?? '',
      },
    };
    try {
      const state = await ensureServices(external);
      expect([state.temporal?.process, state.postgres?.process]).toEqual([null, null]);
      expect(state.temporal).toMatchObject({
        isExternal: true,
        version: own.temporal?.version,
        foundAs: 'TEMPORAL_ADDRESS',
      });
      expect((await inspectServices(external.env)).entries.find(({ name }) => name === 'migrations')?.ok).toBe(true);
      expect(await stopServices(external)).toEqual([]);
      expect(await ensureServices(theirs.options)).toEqual(own);
    } finally {
      await stopServices(theirs.options);
      for (const folder of [elsewhere, theirs.home]) rmSync(folder, { recursive: true });
    }
  });

  it('are named, with what to check, when they do not answer', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'sentinel-external-'));
    const env = {
      ...options.env,
      SENTINEL_HOME: elsewhere,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      DATABASE_URL: 'postgres://u@127.0.0.1:1/x',
    };
    try {
      await expect(ensureServices({ ...options, env })).rejects.toThrow(
        /database at 127.0.0.1:1 could not be prepared.*ECONNREFUSED.*DATABASE_URL/s,
      );
      await expect(
        ensureServices({ ...options, env: { ...env, DATABASE_URL: readConfig(options.env).database.url ?? '' } }),
      ).rejects.toThrow(/Temporal at 127.0.0.1:1 \(TEMPORAL_ADDRESS\), namespace default, does not answer/);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});

describe('services that are killed', { timeout: 120_000 }, () => {
  it.each(['postgres', 'temporal'] as const)('%s comes back at the same place after kill -9', async (name) => {
    const before = await ensureServices(options);
    const old = processes(before)[name];
    process.kill(old.pid, 'SIGKILL');
    await expect.poll(() => isAlive(old)).toBe(false);
    const after = await ensureServices(options);
    const now = processes(after)[name];
    expect(now.pid).not.toBe(old.pid);
    expect(now.restarts).toBe(1);
    expect([after.temporal?.address, after.postgres?.socket]).toEqual([
      before.temporal?.address,
      before.postgres?.socket,
    ]);
    expect(await query('SELECT value FROM kept')).toEqual([{ value: 'before' }]);
    expect(await searchAttributes()).toContain('SentinelName');
  });

  it('live on when the supervisor is killed, and are adopted by the next one', async () => {
    const before = await ensureServices(options);
    process.kill(before.supervisor.pid, 'SIGKILL');
    await expect.poll(() => isAlive(before.supervisor)).toBe(false);
    expect(isAlive(processes(before).postgres)).toBe(true);
    const states = await Promise.all([1, 2, 3, 4].map(() => ensureServices(options)));
    const [after] = states;
    expect(new Set(states.map(({ supervisor }) => supervisor.pid)).size).toBe(1);
    expect(after?.supervisor.pid).not.toBe(before.supervisor.pid);
    expect(processes(after ?? null).postgres.pid).toBe(processes(before).postgres.pid);
    expect(processes(after ?? null).temporal.pid).toBe(processes(before).temporal.pid);
    expect(lockHolder(home)?.pid).toBe(after?.supervisor.pid);
  });

  it('that are adopted are watched like the others', async () => {
    const old = processes(await ensureServices(options)).postgres;
    process.kill(old.pid, 'SIGKILL');
    await expect.poll(() => isAlive(old)).toBe(false);
    expect(processes(await ensureServices(options)).postgres.pid).not.toBe(old.pid);
  });

  it('go to a new supervisor when settings change, keeping their processes', async () => {
    const before = await ensureServices(options);
    const after = await ensureServices({
      ...options,
      env: { ...options.env, SENTINEL_TASK_QUEUES: 'sentinel,sentinel@here' },
    });
    expect(after.supervisor.pid).not.toBe(before.supervisor.pid);
    expect(processes(after).postgres.pid).toBe(processes(before).postgres.pid);
    await ensureServices(options);
  });
});

describe('services that are stopped', { timeout: 120_000 }, () => {
  it('stop, leave nothing running, and keep data and ports for the next start', async () => {
    const before = await ensureServices(options);
    expect(await stopServices(options)).toEqual(['temporal', 'postgres']);
    for (const gone of [before.supervisor, ...Object.values(processes(before))]) expect(isAlive(gone)).toBe(false);
    expect(lockHolder(home)).toBeNull();
    expect(readConfig(options.env).temporal.address).toBeNull();
    const after = await ensureServices({
      ...options,
      env: { ...options.env, SENTINEL_TEMPORAL_PORT: '' },
    });
    expect(after.temporal?.address).toBe(before.temporal?.address);
    expect(after.postgres?.socket).toBe(before.postgres?.socket);
    expect(await query('SELECT value FROM kept')).toEqual([{ value: 'before' }]);
  });

  it('stop although their supervisor was killed', async () => {
    const before = await ensureServices(options);
    process.kill(before.supervisor.pid, 'SIGKILL');
    await expect.poll(() => isAlive(before.supervisor)).toBe(false);
    expect(await stopServices(options)).toEqual(['temporal', 'postgres']);
    for (const gone of Object.values(processes(before))) expect(isAlive(gone)).toBe(false);
  });
});

describe('services that were left in disorder', { timeout: 120_000 }, () => {
  it('begin although a recorded pid belongs to somebody else by now', async () => {
    const left = readServicesState(home);
    if (left === null || left.postgres === null) throw new Error('the state was not kept');
    const mine = {
      pid: process.pid,
      startTime: 'another',
      startedAt: 1,
      restarts: 0,
      status: 'up' as const,
      launch: '',
    };
    writeServicesState(home, { ...left, phase: 'ready', postgres: { ...left.postgres, process: mine } });
    writeFileSync(join(home, 'postgres', 'postmaster.pid'), `${process.pid}\n${join(home, 'postgres')}\n`);
    const state = await ensureServices(options);
    expect(processes(state).postgres.pid).not.toBe(process.pid);
  });

  it('end a Postgres that nobody remembers before starting it again', async () => {
    const before = await ensureServices(options);
    process.kill(before.supervisor.pid, 'SIGKILL');
    await expect.poll(() => isAlive(before.supervisor)).toBe(false);
    process.kill(processes(before).temporal.pid, 'SIGKILL');
    rmSync(join(home, 'services.json'));
    const after = await ensureServices(options);
    expect(isAlive(processes(before).postgres)).toBe(false);
    expect(await query('SELECT value FROM kept')).toEqual([{ value: 'before' }]);
    expect(processes(after).postgres.pid).not.toBe(processes(before).postgres.pid);
  });

  it('say what is wrong, with the end of the log, when one cannot start', async () => {
    await stopServices(options);
    const file = join(home, 'postgres', 'postgresql.conf');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, `${good}\nwork_mem = 'nonsense'\n`);
    await expect(ensureServices(options)).rejects.toThrow(
      /postgres ended while starting; last lines of .*postgres\.log:[^]*nonsense/,
    );
    writeFileSync(file, good);
    expect((await ensureServices(options)).failure).toBeNull();
  });
});
