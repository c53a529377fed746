/**
 * A `sentinel.config` is code. Nobody's runs unless a person has trusted it, with all that it loads; what was changed
 * since is not trusted, and what is changed while it loads is not run. What is trusted works as ever.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readProjectCode } from '../../../services/trust/project-code.ts';
import { runCode } from '../../../services/trust/run-code.ts';
import { buildCli, type BuiltCli, type Finished } from '../processes/built-cli.ts';

let cli: BuiltCli;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

let project: string;
let state: string;
let count = 0;
beforeEach(() => {
  count += 1;
  project = join(cli.folder, `place-${count}`, 'project');
  state = join(cli.folder, `state-${count}`);
});

const ran = (): boolean => existsSync(join(project, 'ran'));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(project, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const USE = JSON.stringify({
  name: 'use',
  steps: [{ type: 'command', command: 'house/say', params: {} }],
  loop: { type: 'once' },
});
const RUNS = "import { writeFileSync as w } from 'node:fs'; w(new URL('./ran', import.meta.url), '');";
const COMMAND =
  "import { defineCommand, z } from 'sentinel-engine/commands'; export const say = defineCommand({ name: 'house/say', permission: 'read', params: z.strictObject({}), result: z.string(), run: () => 'hi' });";
const PLAIN = {
  'use.json': USE,
  'sentinel.config.ts': `${RUNS} ${COMMAND} export default { commands: [say], models: { aliases: { quick: 'ollama/x' } } };`,
};

const sentinel = (args: readonly string[], env: Record<string, string> = {}): Promise<Finished> =>
  cli.run(args, { cwd: project, env: { XDG_STATE_HOME: state, SENTINEL_TRUST: '', ...env } });

const digestIn = (text: string): string => /SENTINEL_TRUST=(\w{32})/.exec(text)?.[1] ?? '';

describe("a stranger's configuration", () => {
  test.each([
    'validate use.json',
    'normalize use.json',
    'explain use.json',
    'graph use.json',
    'simulate use.json',
    'test',
    'models list',
    'mcp list',
    'list',
    'status',
    'doctor',
  ])('is not run by "%s"', async (typed) => {
    write(PLAIN);
    const { stderr } = await sentinel(typed.split(' '));
    expect(ran()).toBe(false);
    if (!['test', 'list', 'status', 'doctor'].includes(typed))
      expect(stderr).toContain('is code that you have not trusted');
  });

  test.each([
    ['run use.json'],
    ['up'],
    ['save use.json'],
    ['eval use.json'],
    ['worker'],
    ['emit x'],
    ['mcp accept x 0000'],
    ['mcp serve'],
  ])('is not run by "%s", which says what to do', async (typed) => {
    write(PLAIN);
    const { code, stderr } = await sentinel(typed.split(' '), { SENTINEL_PROJECT: project });
    expect(ran()).toBe(false);
    expect(code).not.toBe(0);
    if (!['worker', 'eval use.json', 'emit x'].includes(typed)) {
      expect(stderr).toContain('sentinel trust');
      expect(code).toBe(2);
    }
  });

  test('is not run for a verb inside a step that would trust it', async () => {
    write(PLAIN);
    const { code, stderr } = await cli.run(['trust', '--yes'], {
      cwd: project,
      env: { XDG_STATE_HOME: state, SENTINEL_TRUST: '' },
      within: true,
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('A run does not trust') as string });
    expect(existsSync(join(state, 'sentinel', 'trust'))).toBe(false);
  });
});

describe('what a person trusts', () => {
  test('is run, by what looks as well', async () => {
    write(PLAIN);
    const { code, stdout } = await sentinel(['trust', '--yes', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, files: 1, changes: null });
    expect(ran()).toBe(false);
    expect(await sentinel(['validate', 'use.json'])).toMatchObject({ code: 0, stderr: '' });
    expect(ran()).toBe(true);
    const [kept = ''] = readdirSync(join(state, 'sentinel', 'trust'));
    expect(statSync(join(state, 'sentinel', 'trust', kept)).mode & 0o077).toBe(0);
  });

  test('can be named by its digest where nobody is asked', async () => {
    write(PLAIN);
    const refused = await sentinel(['validate', 'use.json']);
    expect(refused.code).toBe(2);
    const env = { SENTINEL_TRUST: `other,${digestIn(refused.stderr)}` };
    expect((await sentinel(['validate', 'use.json'], env)).code).toBe(0);
    write({ 'sentinel.config.ts': `${PLAIN['sentinel.config.ts']} w('more', '');` });
    expect((await sentinel(['validate', 'use.json'], env)).code).toBe(2);
    expect((await sentinel(['validate', 'use.json'], { SENTINEL_TRUST: 'all' })).code).toBe(0);
  });

  test('is not what lies elsewhere, nor what others could have written', async () => {
    write(PLAIN);
    await sentinel(['trust', '--yes']);
    const other = `${project}-copy`;
    cpSync(project, other, { recursive: true });
    const there = await cli.run(['validate', 'use.json'], {
      cwd: other,
      env: { XDG_STATE_HOME: state, SENTINEL_TRUST: '' },
    });
    expect(there.stderr).toContain('not trusted');
    chmodSync(join(state, 'sentinel'), 0o777);
    expect((await sentinel(['validate', 'use.json'])).stderr).toContain('not trusted');
    expect(ran()).toBe(false);
  });

  test('nothing is asked where there is no configuration', async () => {
    write({
      'use.json': JSON.stringify({ name: 'use', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } }),
    });
    expect(await sentinel(['validate', 'use.json'])).toMatchObject({ code: 0, stderr: '' });
    expect((await sentinel(['trust'])).code).toBe(2);
  });

  test.each([
    ['y\n', 0, true],
    ['n\n', 2, false],
    ['\n', 2, false],
  ])('is asked about on a terminal: %j', async (answer, code, isRun) => {
    write(PLAIN);
    const command = cli.commandLine(['trust']);
    const asked = await execa('script', ['-qec', command, '/dev/null'], {
      cwd: project,
      input: answer,
      reject: false,
      env: { XDG_STATE_HOME: state, SENTINEL_TRUST: '', SENTINEL_HOME: join(cli.folder, 'home') },
    });
    expect(asked.stdout).toContain('Trust and run it?');
    expect(asked.stdout).toContain('sentinel.config.ts');
    expect(asked.exitCode).toBe(code);
    expect((await sentinel(['validate', 'use.json'])).code).toBe(isRun ? 0 : 2);
    expect(ran()).toBe(isRun);
  });
});

const LOADS = {
  'use.json': USE,
  'package.json': '{ "type": "module", "imports": { "#inner": "./lib/inner.js" } }',
  'sentinel.config.mjs': `import './lib/one.ts'; import 'pack'; import '../shared.mjs'; import '#inner'; import data from './lib/data.json' with { type: 'json' };
${COMMAND}
const late = () => import('./lib/late.ts');
export default { commands: [say], defaults: { persona: data.persona }, models: {}, ...(await late()).rest };`,
  'lib/one.ts': "import two from './two.cjs'; export const one: number = two;",
  'lib/two.cjs': 'module.exports = 2;',
  'lib/late.ts': 'export const rest = {};',
  'lib/inner.js': 'export default 1;',
  'lib/data.json': '{ "persona": "ada" }',
  '../shared.mjs': 'export default 1;',
  'node_modules/pack/package.json':
    '{ "name": "pack", "version": "1.0.0", "type": "module", "exports": "./main.js", "dependencies": { "deep": "1" } }',
  'node_modules/pack/main.js': "import 'deep'; export default 1;",
  'node_modules/deep/package.json': '{ "name": "deep", "version": "1.0.0", "main": "lib.js" }',
  'node_modules/deep/lib.js': 'module.exports = 1;',
};

describe('all that it loads counts', () => {
  test('and is run once it is trusted', async () => {
    write(LOADS);
    await sentinel(['trust', '--yes']);
    expect(await sentinel(['validate', 'use.json'])).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    ...Object.keys(LOADS)
      .filter((name) => !['use.json', 'package.json'].includes(name))
      .map((name) => [name, '\n']),
    ['package.json', ', "main": "x" }'],
  ])('%s has changed', async (name, more) => {
    write(LOADS);
    await sentinel(['trust', '--yes']);
    const path = join(project, name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, name === 'package.json' ? text.replace(/ \}$/, more) : `${text}${more}`);
    const { code, stderr } = await sentinel(['validate', 'use.json']);
    expect(code).toBe(2);
    expect(stderr).toContain('is not what you trusted: it has changed');
    const { stdout } = await sentinel(['trust', '--yes', '--json']);
    const { changes } = JSON.parse(stdout) as { changes: { changed: string[] } };
    expect(changes.changed).toEqual([expect.stringContaining(name)]);
    expect((await sentinel(['validate', 'use.json'])).code).toBe(0);
  });

  test('another file that comes to be loaded in place of one', async () => {
    write({
      ...PLAIN,
      'sentinel.config.ts': `import './part'; ${PLAIN['sentinel.config.ts']}`,
      'part.js': 'export default 1;',
    });
    await sentinel(['trust', '--yes']);
    write({ 'part.ts': RUNS });
    expect((await sentinel(['validate', 'use.json'])).code).toBe(2);
    expect(ran()).toBe(false);
  });
});

const runAfter = (change: () => void): Promise<unknown> => {
  const code = readProjectCode(join(project, 'sentinel.config.mjs'));
  change();
  return runCode(code, {
    'sentinel-engine/commands': {
      defineCommand: (given: unknown) => given,
      z: { strictObject: () => 0, string: () => 0 },
    },
  });
};

describe('what is changed after it was read is not run', () => {
  test('as it was read, it is', async () => {
    write(LOADS);
    await expect(runAfter(() => undefined)).resolves.toMatchObject({ defaults: { persona: 'ada' } });
  });

  test.each([
    'sentinel.config.mjs',
    'lib/one.ts',
    'lib/two.cjs',
    'lib/late.ts',
    'lib/inner.js',
    'lib/data.json',
    '../shared.mjs',
    'node_modules/pack/main.js',
  ])('%s', async (name) => {
    write(LOADS);
    const evil = `require('node:fs').writeFileSync(${JSON.stringify(join(project, 'ran'))}, '');`;
    const text = name.endsWith('.json')
      ? '{ "persona": "eve" }'
      : name.endsWith('.cjs')
        ? evil
        : RUNS.replace("new URL('./ran', import.meta.url)", JSON.stringify(join(project, 'ran')));
    await expect(runAfter(() => write({ [name]: text }))).rejects.toThrow(/was changed while it was loaded/);
    expect(ran()).toBe(false);
  });

  test.each([
    "import { createRequire } from 'node:module'; const load = createRequire(import.meta.url); load('./hidden.cjs');",
    "import * as modules from 'module'; modules['create' + 'Require'](import.meta.url)('./hidden.cjs');",
    "process.getBuiltinModule('mod' + 'ule').createRequire(import.meta.url)('./hidden.cjs');",
  ])('nor is what is loaded around the imports: %#', async (text) => {
    write({ ...LOADS, 'lib/late.ts': `${text} export const rest = {};`, 'lib/hidden.cjs': RUNS });
    expect(() => readProjectCode(join(project, 'sentinel.config.mjs'))).toThrow(/lib\/late\.ts uses .*written names/);
    rmSync(join(project, 'lib'), { recursive: true });
  });

  test('nor is what is imported by a computed name', async () => {
    write({
      ...LOADS,
      'lib/late.ts': "const name = './hid' + 'den.ts'; await import(name); export const rest = {};",
      'lib/hidden.ts': RUNS,
    });
    await expect(runAfter(() => undefined)).rejects.toThrow(/import it by its written name/);
    expect(existsSync(join(project, 'lib', 'ran'))).toBe(false);
    rmSync(join(project, 'lib'), { recursive: true });
  });
});
