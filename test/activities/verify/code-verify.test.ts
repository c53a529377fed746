/** `code/verify` with the tools themselves, where this machine has them. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Verified } from '../../../systems/code/verify/run-checks.ts';
import { root } from '../../project/tree.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
let project: string;
beforeEach(async () => {
  project = await temporaryFolder();
});

async function write(files: Record<string, string | object>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const withPackages = (): Promise<void> => symlink(join(root, 'node_modules'), join(project, 'node_modules'));
const verify = async (params: JsonObject = {}, over: Partial<CommandContext> = {}): Promise<Verified> =>
  (await registry.run('code/verify', params, commandContext(project, over))) as unknown as Verified;
const hasTool = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

const tsconfig = {
  compilerOptions: { strict: true, module: 'nodenext', target: 'es2022', types: [] },
  include: ['src'],
};

describe('TypeScript and vitest', () => {
  it('types come first; what fails is named with its place, and fixed it passes', async () => {
    await withPackages();
    await write({
      'package.json': { type: 'module', devDependencies: { vitest: '*' } },
      'tsconfig.json': tsconfig,
      'src/a.ts':
        'export const add = (a: number, b: number): number => a - b;\nexport const text: string = add(1, 2);\n',
      'test/a.test.ts':
        "import { expect, test } from 'vitest';\nimport { add } from '../src/a.ts';\ntest('adds', () => {\n  expect(add(1, 1)).toBe(2);\n});\n",
    });
    const types = {
      check: 'typescript',
      file: 'src/a.ts',
      line: 2,
      column: 14,
      message: expect.stringContaining('TS2322') as string,
    };
    const first = await verify();
    expect(first).toMatchObject({
      success: false,
      checks: [{ name: 'typescript', success: false }],
      skipped: ['vitest'],
    });
    expect(first.failures).toEqual([types]);
    const all = await verify({ fullTest: true });
    const test = {
      check: 'vitest',
      file: 'test/a.test.ts',
      line: 4,
      test: 'adds',
      message: expect.stringContaining('expected +0 to be 2') as string,
    };
    expect(all.failures).toMatchObject([types, test]);
    expect(all.output).toContain('1 of 1 tests failed');
    await write({ 'src/a.ts': 'export const add = (a: number, b: number): number => a + b;\n' });
    expect(await verify()).toMatchObject({
      success: true,
      failures: [],
      skipped: [],
      checks: [{ exitCode: 0 }, { exitCode: 0 }],
    });
    expect(await verify({ testFile: 'test/a.test.ts' })).toMatchObject({ success: true, checks: [{ name: 'vitest' }] });
    expect(await verify({ checks: ['typescript'] })).toMatchObject({
      checks: [{ name: 'typescript', command: expect.stringContaining('tsc') as string }],
    });
  });
});

describe('scripts of package.json', () => {
  const failing =
    "import { test } from 'node:test';\nimport assert from 'node:assert';\ntest('outer', async (t) => {\n  await t.test('inner', () => assert.equal(1, 2, 'one & <two>'));\n});\n";

  it.each([
    ['a script that starts it', { scripts: { test: 'node --test test/' } }],
    ['its files alone', {}],
  ])('node:test, by %s', async (_how, described) => {
    await write({ 'package.json': { type: 'module', ...described }, 'test/a.test.js': failing });
    const { success, failures, checks } = await verify();
    expect({ success, checks }).toMatchObject({ success: false, checks: [{ name: 'node:test' }] });
    expect(failures).toContainEqual({
      check: 'node:test',
      file: 'test/a.test.js',
      line: 4,
      column: expect.any(Number) as number,
      test: 'outer > inner',
      message: expect.stringContaining('one & <two>') as string,
    });
  });

  it('npm test, whatever it runs', async () => {
    await write({
      'package.json': { scripts: { test: 'node check.js && echo never' } },
      'check.js':
        "console.log('not ok 1 - adds');\nconsole.log('  at fn (' + __filename + ':3:5)');\nprocess.exit(3);\n",
    });
    expect(await verify()).toMatchObject({
      success: false,
      checks: [{ name: 'npm test', exitCode: 3 }],
      failures: [{ check: 'npm test', file: 'check.js', line: 3, test: 'adds' }],
    });
  });

  it('what fails and says nothing that can be read fails with what it printed', async () => {
    await write({ 'package.json': { scripts: { test: 'echo all is lost; exit 1' } } });
    expect(await verify()).toMatchObject({
      failures: [{ check: 'npm test', message: expect.stringContaining('all is lost') as string }],
    });
  });
});

const python = {
  'lib.py': 'def add(a, b):\n    return a - b\n',
  'test_lib.py': 'from lib import add\n\ndef test_add():\n    assert add(1, 1) == 2\n',
};

describe('other languages', () => {
  it.runIf(hasTool('pytest'))('pytest', async () => {
    await write(python);
    expect(await verify()).toMatchObject({
      success: false,
      checks: [{ name: 'pytest', exitCode: 1 }],
      failures: [
        {
          check: 'pytest',
          file: 'test_lib.py',
          line: 4,
          test: 'test_lib.test_add',
          message: expect.stringContaining('assert 0 == 2') as string,
        },
      ],
    });
    await write({ 'lib.py': 'def add(a, b):\n    return a + b\n' });
    expect(await verify()).toMatchObject({ success: true, failures: [] });
  });

  it.runIf(hasTool('go'))('go, in a folder of the project', async () => {
    await write({
      'back/go.mod': 'module example.com/m\n\ngo 1.21\n',
      'back/sub/a.go': 'package sub\n\nfunc Add(a, b int) int { return a - b }\n',
      'back/sub/a_test.go':
        'package sub\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Error("it is not two")\n\t}\n}\n',
    });
    expect(await verify({ path: 'back' })).toMatchObject({
      success: false,
      failures: [
        { check: 'go', file: 'back/sub/a_test.go', line: 7, test: 'TestAdd', message: 'a_test.go:7: it is not two' },
      ],
    });
    await write({ 'back/sub/a.go': 'package sub\n\nfunc Add(a, b int) int { return "x" }\n' });
    expect((await verify({ path: 'back' })).failures).toContainEqual(
      expect.objectContaining({ check: 'go', file: 'back/sub/a.go', line: 3 }),
    );
  });
});

/** One that has ended and that nobody asked about is a zombie. */
const isRunning = async (): Promise<boolean> => {
  const pid = await readFile(join(project, 'pid'), 'utf8');
  const { stdout } = await execa('ps', ['-o', 'stat=', '-p', pid], { reject: false });
  return !/^(?:Z|$)/.test(stdout.trim());
};

describe('what cannot be run', () => {
  it('a project without checks says what was looked for', async () => {
    await write({ 'package.json': { scripts: { test: 'echo "Error: no test specified" && exit 1' } } });
    await expect(verify()).rejects.toMatchObject({
      code: 'NO_CHECKS_FOUND',
      message: expect.stringMatching(/looked for were tsconfig\.json.*Cargo\.toml/) as string,
    });
    await write({ 'tsconfig.json': tsconfig });
    await expect(verify({ checks: ['pytest'] })).rejects.toMatchObject({
      message: expect.stringContaining('there are typescript') as string,
    });
    await expect(verify({ path: '..' })).rejects.toMatchObject({ code: 'PATH_OUTSIDE_PROJECT' });
    await expect(verify({ path: 'gone' })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(verify({ testFile: '-x' })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
  });

  it('a tool that is named and not installed is a failure with its remedy', async () => {
    await write({ 'package.json': { devDependencies: { jest: '*' } } });
    expect(await verify()).toMatchObject({
      success: false,
      checks: [{ name: 'jest', exitCode: 127 }],
      failures: [{ check: 'jest', message: expect.stringContaining('npm install') as string }],
    });
  });

  it('ends its process when the step is cancelled, and when its time is over', async () => {
    await write({
      'package.json': { scripts: { test: 'node wait.js' } },
      'wait.js': "require('node:fs').writeFileSync('pid', String(process.pid));\nsetTimeout(() => {}, 60000);\n",
    });
    await expect(verify({ timeoutMs: 3000 })).rejects.toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(await isRunning()).toBe(false);
    const signal = AbortSignal.timeout(3000);
    await expect(verify({}, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await isRunning()).toBe(false);
  });
});

it.runIf(hasTool('bwrap'))('is held in where the run is sandboxed', async () => {
  await write({
    'package.json': { scripts: { test: 'node check.js' } },
    'check.js': "const fs = require('node:fs');\nfs.writeFileSync('sentinels', '');\n",
  });
  await expect(verify({}, { confinement: { mode: 'sandboxed' } })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
});

const sums = (check: string) => [
  { check, test: 'test_sums.Sums.test_adds', status: 'passed' },
  { check, test: 'test_sums.Sums.test_fails', status: 'failed' },
  { check, test: 'test_sums.Sums.test_later', status: 'skipped' },
];

const SUMS = {
  'test_sums.py':
    'import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 1, 2)\n\n    def test_fails(self):\n        self.assertEqual(1 + 1, 3)\n\n    @unittest.skip("later")\n    def test_later(self):\n        pass\n',
};

describe('every test is listed with how it ended', () => {
  it.runIf(hasTool('pytest'))('by pytest', async () => {
    await write(SUMS);
    const { cases } = await verify({ checks: ['pytest'], cases: true });
    expect(cases?.map(({ file: _file, ...one }) => one)).toEqual(sums('pytest'));
    expect(await verify({ checks: ['pytest'] })).not.toHaveProperty('cases');
  });

  it.runIf(hasTool('python3'))('by unittest', async () => {
    await write(SUMS);
    const { cases } = await verify({ checks: ['unittest'], cases: true });
    expect(cases).toEqual(sums('unittest'));
  });
});
