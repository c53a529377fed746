/**
 * Whoever looks changes nothing, whatever their shell is set to; and whoever acts with other addresses than
 * the services have changes nothing before those addresses have answered. On real services, with the command
 * line as a process.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureServices } from '../../services/ensure-services.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { isAlive } from '../../services/processes/process-identity.ts';
import { stopServices } from '../../services/stop-services.ts';
import { freshServices, sentinel, type FreshServices } from './harness/fresh-services.ts';

let ours: FreshServices;
/** Somebody else's servers. */
let theirs: FreshServices;
let env: NodeJS.ProcessEnv;
let address: string;
let database: URL;

beforeAll(async () => {
  [ours, theirs] = await Promise.all([freshServices(), freshServices({ withoutDoor: true })]);
  env = { ...ours.options.env, USER: 'ada' };
  const [up, other] = await Promise.all([sentinel(env, 'up'), ensureServices(theirs.options)]);
  expect(up).toMatchObject({ code: 0 });
  address = other.temporal?.address ?? '';
  database = new URL(other.postgres?.url ?? '');
  writeFileSync(
    join(ours.home, 'hello.json'),
    JSON.stringify({ name: 'hello', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } }),
  );
}, 240_000);
afterAll(async () => {
  await Promise.all([stopServices(ours.options), stopServices(theirs.options)]);
  for (const { home } of [ours, theirs]) rmSync(home, { recursive: true, force: true });
}, 120_000);

/** Who keeps the services, and which processes they are; all of them alive. */
function standing(): Record<string, unknown> {
  const { supervisor, temporal, postgres, worker, phase, settings } = readServicesState(ours.home) ?? {};
  const pids = [supervisor, temporal?.process, postgres?.process, worker?.process].map((one) =>
    one && isAlive(one) ? one.pid : null,
  );
  expect(pids).not.toContain(null);
  return { pids, phase, settings };
}

async function execute(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const withPassword = (password: string): string => {
  const url = new URL(database.href);
  url.password = password;
  return url.href;
};

/** Settings of another shell, none of which can be used. */
const SHELLS: [string, () => NodeJS.ProcessEnv][] = [
  ['a Temporal server that is nowhere', () => ({ TEMPORAL_ADDRESS: '127.0.0.1:1' })],
  ['a database that is nowhere', () => ({ DATABASE_URL: 'postgres://u@127.0.0.1:1/x' })],
  ['a wrong password', () => ({ DATABASE_URL: withPassword('wrong') })],
  ['a namespace that is not there', () => ({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'nowhere' })],
  ['encryption that the server does not speak', () => ({ TEMPORAL_ADDRESS: address, TEMPORAL_TLS: 'true' })],
  ['an API key that nobody asked for', () => ({ TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: 'key' })],
];

describe('whoever looks', { timeout: 300_000 }, () => {
  it('changes nothing, with any of the verbs', async () => {
    const before = standing();
    const shell = { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1', SENTINEL_TASK_QUEUES: 'another' };
    const verbs = ['status none', 'list', 'trace none', 'logs none', 'graph none', 'diff a b', 'inbox', 'doctor'];
    const others = ['follow none', 'replay none', 'trigger list', 'trigger show none', 'explain hello.json'];
    for (const verb of [...verbs, ...others]) {
      const { code, err } = await sentinel(shell, ...verb.split(' '));
      expect({ verb, code, err }).not.toMatchObject({ err: expect.stringContaining('starting') as string });
      expect({ verb, standing: standing() }).toEqual({ verb, standing: before });
    }
    // The store is where it was.
    expect(await sentinel(shell, 'status', 'none')).toMatchObject({ code: 4 });
    expect(await sentinel(shell, 'list')).toMatchObject({ code: 0, out: 'No runs.\n' });
  });

  it.each(SHELLS)('changes nothing from a shell with %s', async (_title, settings) => {
    const before = standing();
    const shell = { ...env, ...settings() };
    for (const verb of ['list', 'schedule list', 'status none']) await sentinel(shell, ...verb.split(' '));
    expect(standing()).toEqual(before);
  });

  it('is told what is not there', async () => {
    expect(await sentinel({ ...env, TEMPORAL_NAMESPACE: 'nowhere' }, 'schedule', 'list')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^sentinel: The Temporal server does not have what TEMPORAL_NAMESPACE names .*'nowhere'/,
      ) as string,
    });
    const bare = { ...env, DATABASE_URL: withPassword(database.password).replace('/sentinel?', '/postgres?') };
    for (const verb of ['list', 'inbox', 'status none'])
      expect(await sentinel(bare, ...verb.split(' '))).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^sentinel: The database \S+ .*"sentinel up"/) as string,
      });
    expect(await sentinel({ ...env, DATABASE_URL: 'postgres://u@127.0.0.1:1/x' }, 'list')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^sentinel: The database \S+ does not answer/) as string,
    });
  });
});

describe('whoever acts', { timeout: 300_000 }, () => {
  it.each(SHELLS)('changes nothing from a shell with %s', async (_title, settings) => {
    const before = standing();
    const { code, err } = await sentinel({ ...env, ...settings() }, 'run', 'hello.json', '--host', 'here');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(
        /Nothing was changed|^sentinel: The database \S+ (?:does not answer|refuses)/,
      ) as string,
    });
    expect(standing()).toEqual(before);
  });

  it('is refused the embedded servers under the name of somebody else', async () => {
    const before = standing();
    const { postgres } = readServicesState(ours.home) ?? {};
    const own = encodeURIComponent(dirname(postgres?.socket ?? ''));
    const open = theirs.options.env;
    for (const [home, settings, says] of [
      [open, { TEMPORAL_ADDRESS: address }, /TEMPORAL_ADDRESS names .* unset it/],
      [open, { TEMPORAL_ADDRESS: address.replace('127.0.0.1', 'localhost') }, /TEMPORAL_ADDRESS names .* unset it/],
      [env, { DATABASE_URL: `postgres://sentinel:x@localhost/sentinel?host=${own}` }, /DATABASE_URL names .* unset it/],
    ] as const) {
      const { code, err } = await sentinel({ ...home, ...settings }, 'up');
      expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(says) as string });
    }
    expect(standing()).toEqual(before);
  });

  it('takes turns with whoever acts from another shell at the same moment', async () => {
    const before = readServicesState(ours.home);
    const shells = ['one', 'two', 'one,two', 'two'].map((queues) => ({ ...env, SENTINEL_TASK_QUEUES: queues }));
    const said = await Promise.all(shells.map((shell) => sentinel(shell, 'emit', 'x')));
    expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const after = readServicesState(ours.home);
    expect([after?.temporal?.process?.pid, after?.postgres?.process?.pid]).toEqual([
      before?.temporal?.process?.pid,
      before?.postgres?.process?.pid,
    ]);
    expect(await sentinel(env, 'up')).toMatchObject({ code: 0 });
    standing();
  });

  it('finds the servers as they were although a change failed half way', async () => {
    const before = readServicesState(ours.home);
    const rename = (from: string, to: string): Promise<void> =>
      execute(
        before?.postgres?.url ?? '',
        `update _prisma_migrations set checksum = replace(checksum, '${from}', '${to}')`,
      );
    // What was applied is another migration by now: no worker goes on with that.
    await rename('a', 'z');
    const { code, err } = await sentinel({ ...env, SENTINEL_TASK_QUEUES: 'other' }, 'emit', 'x');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('was changed after it had been applied') as string,
    });
    const after = readServicesState(ours.home);
    expect(after?.phase).toBe('failed');
    for (const name of ['temporal', 'postgres'] as const) {
      const process = after?.[name]?.process;
      expect(process?.pid).toBe(before?.[name]?.process?.pid);
      expect(process && isAlive(process)).toBe(true);
    }
    expect(await sentinel(env, 'list')).toMatchObject({ code: 0 });
    await rename('z', 'a');
    expect(await sentinel(env, 'up')).toMatchObject({ code: 0 });
    standing();
  });
});

describe('without services', () => {
  it('looking says what starts them, and starts nothing', async () => {
    const home = mkdtempSync(join(tmpdir(), 'sentinel-none-'));
    try {
      const { code, err } = await sentinel({ ...env, SENTINEL_HOME: home }, 'list');
      expect({ code, err }).toEqual({
        code: 1,
        err: 'sentinel: Postgres is not up, and looking starts nothing: "sentinel up" starts the services.\n',
      });
      expect(readServicesState(home)).toBeNull();
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});
