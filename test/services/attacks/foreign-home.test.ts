/**
 * A home that came with a clone, or that a checkout wrote into, leads nobody to a stranger's servers; the home that
 * a user made is used as ever. With the command line as it is built, and a package installed in a project.
 */
import { createServer, type Server } from 'node:net';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { ServicesState } from '../../../services/config/services-state.ts';
import { execa } from 'execa';
import { markLine, markOf } from '../../../world/processes/step-mark.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'sentinel-foreign-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server of a stranger's, which notes who comes. */
let stranger: Server;
let visits = 0;
let address = '';
beforeEach(async () => {
  visits = 0;
  stranger = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const at = stranger.address();
  address = typeof at === 'object' && at !== null ? `127.0.0.1:${at.port}` : '';
});
afterEach(() => new Promise<void>((resolve) => stranger.close(() => resolve())));

let count = 0;
/** A project in which the package is installed, so that its home is `.sentinel` there; and the state folder of a user. */
function project(): { at: string; env: NodeJS.ProcessEnv; cli: string } {
  count += 1;
  const at = join(folder, `project-${count}`);
  const installed = join(at, 'node_modules', 'sentinel-engine');
  mkdirSync(installed, { recursive: true });
  for (const name of ['package.json', 'dist', 'prisma'])
    cpSync(join(ROOT, name), join(installed, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'));
  writeFileSync(join(at, 'package.json'), '{ "private": true }');
  const state = join(folder, `state-${count}`);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    XDG_STATE_HOME: state,
    USER: 'ada',
  };
  return { at, env, cli: join(installed, 'dist', 'cli', 'main.js') };
}

async function sentinel({ at, env, cli }: ReturnType<typeof project>, ...args: string[]) {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [cli, ...args], {
    cwd: at,
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: 100_000,
  });
  return { code: exitCode, out: stdout, err: stderr };
}

const living = () =>
  ({ pid: process.pid, startTime: 'x', startedAt: 0, restarts: 0, status: 'up', launch: 'x' }) as const;

function stateThatLeads(to: string): string {
  const port = Number(to.split(':')[1]);
  const state: ServicesState = {
    version: 1,
    supervisor: { pid: process.pid, startTime: 'x', startedAt: 0 },
    phase: 'ready',
    progress: null,
    failure: null,
    warnings: [],
    settings: 'x',
    temporal: {
      isExternal: false,
      address: to,
      webUrl: `http://${to}`,
      port,
      uiPort: port,
      socket: null,
      webSocket: null,
      version: null,
      foundAs: 'x',
      process: living(),
    },
    postgres: {
      isExternal: false,
      url: `postgres://sentinel:x@${to}/sentinel`,
      socket: null,
      dataDir: null,
      version: null,
      foundAs: 'x',
      process: living(),
    },
    worker: null,
    workers: [],
  };
  return JSON.stringify(state);
}

const LOOKING = [['status'], ['list'], ['doctor'], ['status', 'some-run']];

test.each(LOOKING)('a home that came with a clone leads "%s" nowhere, and it says so', async (...args) => {
  const clone = project();
  mkdirSync(join(clone.at, '.sentinel'), { mode: 0o700 });
  writeFileSync(join(clone.at, '.sentinel', 'services.json'), stateThatLeads(address), { mode: 0o600 });
  writeFileSync(join(clone.at, '.sentinel', 'home.id'), `${'a'.repeat(32)}\n`, { mode: 0o600 });
  const { code, out, err } = await sentinel(clone, ...args);
  expect(code).toBe(1);
  expect(`${out}${err}`).toContain('not made by you on this machine');
  expect(`${out}${err}`).toContain('sentinel trust --home');
  expect(visits).toBe(0);
  expect(readdirSync(clone.at)).toEqual(['.sentinel', 'node_modules', 'package.json']);
});

test('what the foreign home keeps of settings and acceptances does not count, and is set aside whole by what acts', async () => {
  const clone = project();
  const home = join(clone.at, '.sentinel');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'services.json'), stateThatLeads(address), { mode: 0o600 });
  writeFileSync(join(home, 'worker-settings.json'), JSON.stringify({ OPENAI_BASE_URL: `http://${address}` }));
  writeFileSync(join(home, 'mcp.json'), JSON.stringify({}));
  mkdirSync(join(home, 'postgres'));
  // Nothing is started: the database that is asked first does not answer.
  const env = { ...clone.env, TEMPORAL_ADDRESS: '127.0.0.1:1', DATABASE_URL: 'postgres://u@127.0.0.1:1/x' };
  const { code, err } = await sentinel({ ...clone, env }, 'up');
  expect(code).toBe(1);
  expect(err).toContain('was not made here');
  const [aside] = readdirSync(clone.at).filter((name) => name.startsWith('.sentinel.foreign-'));
  expect(readdirSync(join(clone.at, aside ?? ''))).toEqual([
    'mcp.json',
    'postgres',
    'services.json',
    'worker-settings.json',
  ]);
  expect(existsSync(join(home, 'services.json'))).toBe(false);
  expect(existsSync(join(home, 'home.id'))).toBe(true);
  expect(visits).toBe(0);
});

/** A home as it is after a first `up`, which has got no further than its servers. */
async function ownHome(): Promise<ReturnType<typeof project>> {
  const mine = project();
  const env = { ...mine.env, TEMPORAL_ADDRESS: '127.0.0.1:1', DATABASE_URL: 'postgres://u@127.0.0.1:1/x' };
  const { err } = await sentinel({ ...mine, env }, 'up');
  expect(err).not.toContain('not made here');
  return mine;
}

test("a file that a checkout puts into the user's own home is not believed", async () => {
  const mine = await ownHome();
  writeFileSync(join(mine.at, '.sentinel', 'services.json'), stateThatLeads(address));
  const { out } = await sentinel(mine, 'status');
  expect(out).toContain('not started');
  expect(visits).toBe(0);
});

test("the user's own home is found again after the project has moved, and not in a copy that another one has", async () => {
  const mine = await ownHome();
  const moved = { ...mine, at: `${mine.at}-moved`, cli: mine.cli.replace(mine.at, `${mine.at}-moved`) };
  renameSync(mine.at, moved.at);
  expect((await sentinel(moved, 'status')).out).not.toContain('not made by you');
  const copied = project();
  cpSync(join(moved.at, '.sentinel'), join(copied.at, '.sentinel'), { recursive: true });
  expect((await sentinel({ ...copied, env: moved.env }, 'status')).out).toContain('not made by you');
});

test('a person says that a home is theirs, and a run does not', async () => {
  const clone = project();
  const home = join(clone.at, '.sentinel');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'services.json'), stateThatLeads(address), { mode: 0o600 });
  const { exitCode, stderr } = await execa(
    'bash',
    ['-c', `${markLine(markOf('step'))}; exec "$0" "$@"`, process.execPath, clone.cli, 'trust', '--home'],
    {
      cwd: clone.at,
      env: clone.env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    },
  );
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining('A run does not trust') as string,
  });
  expect((await sentinel(clone, 'trust', '--home')).code).toBe(0);
  expect((await sentinel(clone, 'status')).out).not.toContain('not made by you');
});

test('the record is for the user alone, and lies outside of the project', async () => {
  const mine = await ownHome();
  const id = readFileSync(join(mine.at, '.sentinel', 'home.id'), 'utf8').trim();
  const homes = join(mine.env['XDG_STATE_HOME'] ?? '', 'sentinel', 'homes');
  expect(readdirSync(homes)).toEqual([`${id}.json`]);
  chmodSync(join(homes, '..'), 0o777);
  expect((await sentinel(mine, 'status')).out).toContain('not made by you');
});

test('a home that the user names is used, unless others can write it', async () => {
  const mine = project();
  const home = join(folder, `named-${count}`);
  mkdirSync(home);
  writeFileSync(join(home, 'services.json'), stateThatLeads(address));
  const named = { ...mine, env: { ...mine.env, SENTINEL_HOME: home } };
  const first = await sentinel(named, 'status');
  expect(first.out).not.toContain('home');
  expect(visits).toBeGreaterThan(0);
  chmodSync(home, 0o777);
  visits = 0;
  expect((await sentinel(named, 'status')).out).toContain('can be written by others');
  expect(visits).toBe(0);
});

test('a relative name leads into the clone one stands in, and needs a record as well', async () => {
  const clone = project();
  mkdirSync(join(clone.at, 'state'), { mode: 0o700 });
  writeFileSync(join(clone.at, 'state', 'services.json'), stateThatLeads(address));
  const { out } = await sentinel({ ...clone, env: { ...clone.env, SENTINEL_HOME: 'state' } }, 'status');
  expect(out).toContain('not made by you');
  expect(visits).toBe(0);
});
