/**
 * The `sentinel` script in a checkout of its own, with an `npm` and a `node` that only note that
 * they were called: what it installs and builds when, and that it passes everything on.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WORKER_NODE_FLAGS } from '../../services/supervisor/worker-process.ts';

const launcher = fileURLToPath(new URL('../../sentinel', import.meta.url));
const run = promisify(execFile);

let root: string;
let calls: string;
let env: NodeJS.ProcessEnv;

const NPM = `#!/bin/sh
echo "npm $*" >>"$CALLS"
echo chatter
case $1 in
  ci) mkdir -p node_modules && touch node_modules/.package-lock.json ;;
  *) sleep 0.3; mkdir -p dist/cli && touch dist/cli/main.js ;;
esac
`;
const NODE = `#!/bin/sh
if [ "$1" = --version ]; then echo "\${NODE_VERSION:-v20.19.0}"; exit; fi
shift
echo "ran: $*"
exit 7
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sentinel launcher '));
  calls = join(root, 'calls');
  for (const folder of ['bin', 'language', 'prisma/generated']) mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'language/a.ts', 'calls'])
    writeFileSync(join(root, file), '');
  const past = new Date(Date.now() - 60_000);
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'language/a.ts'])
    utimesSync(join(root, file), past, past);
  for (const [name, text] of [
    ['npm', NPM],
    ['node', NODE],
  ] as const) {
    writeFileSync(join(root, 'bin', name), text);
    chmodSync(join(root, 'bin', name), 0o755);
  }
  copyFileSync(launcher, join(root, 'sentinel'));
  chmodSync(join(root, 'sentinel'), 0o755);
  env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, CALLS: calls };
});
afterEach(() => rmSync(root, { recursive: true }));

const launch = (args: string[] = [], extra: NodeJS.ProcessEnv = {}, program = join(root, 'sentinel')) =>
  spawnSync(program, args, { env: { ...env, ...extra }, cwd: '/', encoding: 'utf8', timeout: 30_000 });
const npmCalls = () =>
  readFileSync(calls, 'utf8')
    .trim()
    .split('\n')
    .filter((line) => line !== '');

const INSTALL = 'npm ci --include=dev --no-audit --no-fund --loglevel=error';
const BUILD = 'npm run --silent build';

describe('the launcher', { timeout: 60_000 }, () => {
  it("installs and builds once, then only runs; stdout and the exit code are the program's", () => {
    const first = launch(['list', '--json', 'a b']);
    expect([first.stdout, first.status]).toEqual(['ran: list --json a b\n', 7]);
    expect(first.stderr).toContain('chatter');
    expect(npmCalls()).toEqual([INSTALL, BUILD]);
    const second = launch();
    expect([second.stdout, second.stderr]).toEqual(['ran: \n', '']);
    expect(npmCalls()).toHaveLength(2);
  });

  it('gives a worker in the foreground the heap of one in the background', () => {
    const [, ...flags] = WORKER_NODE_FLAGS;
    // The node of these tests leaves out its first argument.
    expect(launch(['worker', '--json']).stdout).toBe(
      `ran: ${flags.join(' ')} ${join(root, 'dist', 'cli', 'main.js')} worker --json\n`,
    );
    expect(launch(['workers']).stdout).toBe('ran: workers\n');
  });

  it.each([
    ['a source', 'language/a.ts', [BUILD]],
    ['the settings of the compiler', 'tsconfig.json', [BUILD]],
    ['the lock file', 'package-lock.json', [INSTALL]],
    ['what the build itself generates', 'prisma/generated/client.ts', []],
  ])('after a change of %s does what is needed', (_name, file, expected) => {
    launch();
    const later = new Date(Date.now() + 1000);
    writeFileSync(join(root, file), 'changed');
    utimesSync(join(root, file), later, later);
    launch();
    expect(npmCalls().slice(2)).toEqual(expected);
  });

  it('runs an installed package as it is', () => {
    rmSync(join(root, 'package-lock.json'));
    const installed = launch(['up']);
    expect([installed.stdout, installed.stderr, installed.status]).toEqual(['ran: up\n', '', 7]);
    expect(npmCalls()).toEqual([]);
  });

  it('works through links', () => {
    symlinkSync(join(root, 'sentinel'), join(root, 'bin', 'one'));
    symlinkSync('one', join(root, 'bin', 'two'));
    expect(launch(['up'], {}, join(root, 'bin', 'two')).stdout).toBe('ran: up\n');
  });

  it.each(['v18.20.0', 'v20.18.3'])('refuses node %s before it installs anything', (version) => {
    const refused = launch([], { NODE_VERSION: version });
    expect([refused.status, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toBe(`sentinel: Node.js ${version} is too old; install version 20.19 or later.\n`);
    expect(npmCalls()).toEqual([]);
  });

  it('asked several times at once installs and builds once', async () => {
    const all = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        run(join(root, 'sentinel'), [String(n)], { env }).catch((error: { stdout: string }) => error),
      ),
    );
    expect(all.map(({ stdout }) => stdout)).toEqual(['ran: 1\n', 'ran: 2\n', 'ran: 3\n', 'ran: 4\n']);
    expect(npmCalls()).toEqual([INSTALL, BUILD]);
  });

  it('takes over the lock of one that was killed', () => {
    const lock = join(root, '.sentinel', 'launch.lock');
    mkdirSync(lock, { recursive: true });
    const { pid } = spawnSync('true');
    writeFileSync(join(lock, 'pid'), `${pid}\n`);
    expect(launch(['up']).stdout).toBe('ran: up\n');
  });
});

describe('the launcher in trouble', { timeout: 60_000 }, () => {
  it('says so when the build fails, and builds again the next time', () => {
    writeFileSync(join(root, 'bin', 'npm'), NPM.replace('sleep 0.3;', 'exit 1;'));
    const failed = launch();
    expect([failed.status, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toContain('sentinel: the build failed; see above.');
    writeFileSync(join(root, 'bin', 'npm'), NPM);
    expect(launch(['up']).stdout).toBe('ran: up\n');
  });
});
