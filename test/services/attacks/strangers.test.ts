/**
 * Services that run for one user, and what others reach of them: another user of the machine, and whoever can
 * open a connection to its loopback address. What the owner does with them works beside it.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../services/config/config.ts';
import { readServicesState, type ServicesState } from '../../../services/config/services-state.ts';
import { ensureServices } from '../../../services/ensure-services.ts';
import { stopServices } from '../../../services/stop-services.ts';
import { freshServices, sentinel, type FreshServices } from '../harness/fresh-services.ts';
import { canBeNobody, connectAsNobody, portsOf, treeOf } from '../harness/strangers.ts';
import { pidOf } from '../../pids.ts';

let services: FreshServices;
let state: ServicesState;

beforeAll(async () => {
  services = await freshServices();
  const { code, err } = await sentinel(services.options.env, 'up');
  expect({ code, err }).toMatchObject({ code: 0 });
  const recorded = readServicesState(services.home);
  if (recorded === null) throw new Error('the services recorded nothing');
  state = recorded;
}, 180_000);

afterAll(async () => {
  await stopServices(services.options);
  rmSync(services.home, { recursive: true, force: true });
}, 120_000);

const HELLO = { name: 'hello', steps: [{ type: 'shell', command: 'echo hello' }], loop: { type: 'once' } };

async function ask(url: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query('SELECT 1 AS answer')).rows as unknown[];
  } finally {
    await client.end();
  }
}

const urlOf = ({ options }: FreshServices): string => readConfig(options.env).database.url ?? '';

describe.runIf(process.platform === 'linux')('the services of a home', { timeout: 120_000 }, () => {
  it('listen on no port, with their worker and all that they started', () => {
    const pids = treeOf(state.supervisor.pid);
    expect(pids).toEqual(
      expect.arrayContaining([state.temporal, state.postgres, state.worker].map((one) => one?.process?.pid)),
    );
    expect(portsOf(pids)).toEqual([]);
  });

  it.runIf(canBeNobody)('let no other user near the sockets of Temporal', async () => {
    for (const path of [state.temporal?.socket ?? '', state.temporal?.webSocket ?? '']) {
      expect(statSync(path).mode & 0o077).toBe(0);
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
      expect(await connectAsNobody({ path })).toBe('EACCES');
    }
  });

  it.runIf(canBeNobody)('are in a network that another user does not enter', async () => {
    const inside = treeOf(pidOf(state.temporal?.process)).at(-1) ?? 0;
    const enter = ['-t', String(inside), '-n', 'true'];
    const { exitCode } = await execa('nsenter', enter, { uid: 65_534, gid: 65_534, cwd: '/', reject: false });
    expect(exitCode).not.toBe(0);
  });

  it('serve their owner', async () => {
    const { env } = services.options;
    writeFileSync(join(services.home, 'hello.json'), JSON.stringify(HELLO));
    expect(await sentinel(env, 'run', 'hello.json')).toMatchObject({
      code: 0,
      out: expect.stringContaining('completed') as string,
    });
    const status = await sentinel(env, 'status', '--json');
    expect(status.code).toBe(0);
    expect(status.out).toContain('do not reach the Temporal server and its Web UI');
  });

  it('come back behind the same sockets when their server is killed', async () => {
    process.kill(pidOf(state.temporal?.process), 'SIGKILL');
    expect(await sentinel(services.options.env, 'run', 'hello.json')).toMatchObject({ code: 0 });
    const { temporal } = readServicesState(services.home) ?? {};
    expect(temporal).toMatchObject({ socket: state.temporal?.socket, process: { restarts: 1 } });
    expect(portsOf(treeOf(state.supervisor.pid))).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('where no process gets a network of its own', { timeout: 120_000 }, () => {
  it('the services work on loopback, and say who reaches them', async () => {
    const open = await freshServices({ withoutDoor: true });
    const { env } = open.options;
    try {
      writeFileSync(join(open.home, 'hello.json'), JSON.stringify(HELLO));
      expect(await sentinel(env, 'run', 'hello.json')).toMatchObject({ code: 0 });
      expect(readServicesState(open.home)?.temporal?.address).toMatch(/^127\.0\.0\.1:\d+$/);
      const { out } = await sentinel(env, 'doctor', '--json');
      const { entries } = JSON.parse(out) as { entries: { name: string }[] };
      expect(entries.find(({ name }) => name === 'other users')).toMatchObject({
        ok: true,
        found: expect.stringMatching(/^reach the Temporal server .* on loopback: .*no namespaces here/) as string,
        remedy: expect.any(String) as string,
      });
    } finally {
      await stopServices(open.options);
      rmSync(open.home, { recursive: true, force: true });
    }
  });
});

describe.runIf(process.platform === 'linux')('the database', { timeout: 120_000 }, () => {
  it('listens on no port', () => {
    const pids = treeOf(pidOf(state.postgres?.process));
    expect(pids.length).toBeGreaterThan(1);
    expect(portsOf(pids)).toEqual([]);
  });

  it.runIf(canBeNobody)('lets no other user near its socket', async () => {
    expect(await connectAsNobody({ path: state.postgres?.socket ?? '' })).toBe('EACCES');
  });

  it('answers its owner', async () => {
    expect(await ask(urlOf(services))).toEqual([{ answer: 1 }]);
  });

  it('answers whatever PGPORT and PGHOST are of another database', async () => {
    process.env['PGPORT'] = '1';
    process.env['PGHOST'] = 'nowhere.invalid';
    try {
      expect(await ask(urlOf(services))).toEqual([{ answer: 1 }]);
    } finally {
      delete process.env['PGPORT'];
      delete process.env['PGHOST'];
    }
  });
});

describe.runIf(process.platform === 'linux')('a home too deep for sockets', { timeout: 120_000 }, () => {
  it('has them in a short folder that is as closed', async () => {
    const { options } = services;
    const place = mkdtempSync(join(tmpdir(), 'sentinel-deep-'));
    const home = join(place, 'a'.repeat(60), 'b'.repeat(60));
    mkdirSync(home, { recursive: true });
    chmodSync(place, 0o755);
    const deep = { ...options, env: { ...options.env, SENTINEL_HOME: home } };
    try {
      const { postgres, temporal } = await ensureServices(deep);
      const socket = postgres?.socket ?? '';
      for (const path of [socket, temporal?.socket ?? '']) {
        expect(path.startsWith(home)).toBe(false);
        expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
      }
      expect(await ask(readConfig(deep.env).database.url ?? '')).toEqual([{ answer: 1 }]);
      if (canBeNobody) expect(await connectAsNobody({ path: socket })).toBe('EACCES');
    } finally {
      await stopServices(deep);
      rmSync(place, { recursive: true, force: true });
    }
  });
});
