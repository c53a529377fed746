/** Named pipes, and patterns that take for ever, where a project says something of itself: no worker waits for them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runHelper } from '../../world/own-programs/helper-programs.ts';
import { findProtectedPlaces } from '../../world/confinement/protected-places.ts';
import { plainText } from '../../world/files/plain-file.ts';
import { findChecks } from '../../systems/code/verify/find-checks.ts';
import { GitIgnores } from '../../worker/triggers/git-ignores.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { pathsIn, writtenProject } from '../activities/harness/written-project.ts';
import { repository } from '../activities/harness/repository.ts';
import { command, hasSandbox } from './inside.ts';
import { processorMs } from '../elapsed.ts';

function pipe(root: string, name: string): string {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  execFileSync('mkfifo', [join(root, name)]);
  return join(root, name);
}

test('a pipe says nothing, and neither does a file without an end; a file says what is in it', async () => {
  const root = await temporaryFolder();
  expect(plainText(pipe(root, 'pipe'))).toBeNull();
  writeFileSync(join(root, 'large'), '');
  truncateSync(join(root, 'large'), 1024 ** 4);
  expect(plainText(join(root, 'large'))).toBeNull();
  expect(plainText('/dev/zero')).toBeNull();
  writeFileSync(join(root, 'text'), 'some');
  expect(plainText(join(root, 'text'))).toBe('some');
});

test('a .gitignore that is a pipe ignores nothing; one beside it ignores what it says', async () => {
  const root = await temporaryFolder();
  pipe(root, 'sub/.gitignore');
  pipe(root, '.git/info/exclude');
  writeFileSync(join(root, '.gitignore'), '*.log\n');
  const ignores = new GitIgnores(root);
  expect(ignores.ignores(join(root, 'sub', 'a.ts'), false)).toBe(false);
  expect(ignores.ignores(join(root, 'sub', 'a.log'), false)).toBe(true);
});

test('checks are found beside a package.json that is a pipe', async () => {
  const root = await temporaryFolder();
  pipe(root, 'package.json');
  writeFileSync(join(root, 'go.mod'), 'module a\n');
  const found = findChecks({ root, folder: '' });
  expect(found.some(({ name }) => name === 'npm test')).toBe(false);
});

test.each([`${'**/a/'.repeat(8)}b`, `${'*a'.repeat(40)}b`, `${'?'.repeat(400)}b`, 'x'.repeat(900_000)])(
  'a rule that could be tried in very many ways is left out: %#',
  async (rule) => {
    const root = await temporaryFolder();
    writeFileSync(join(root, '.gitignore'), `${rule}\n**/build/**/*.js\n`);
    const ignores = new GitIgnores(root);
    const deep = join(root, ...Array.from({ length: 80 }, () => 'a'), 'a'.repeat(200));
    expect(processorMs(() => expect(ignores.ignores(deep, false)).toBe(false))).toBeLessThan(500);
    expect(ignores.ignores(join(root, 'x', 'build', 'y', 'z.js'), false)).toBe(true);
  },
);

test('a pipe that is called as the id of a home makes none', async () => {
  const root = await temporaryFolder();
  pipe(root, 'src/home.id');
  expect((await findProtectedPlaces(root)).homes).toEqual([]);
});

test('git and ripgrep do not wait for pipes in the place of rules', async () => {
  const project = await writtenProject({ 'src/a.ts': 'found', 'src/deep/b.log': 'found', '.gitignore': '*.log\n' });
  for (const name of ['src/.gitignore', 'src/deep/.gitignore', 'src/.ignore', 'src/.rgignore', 'src/.gitattributes'])
    pipe(project.project, name);
  const trees = await project.trees();
  const { tree } = await trees.take();
  expect(await pathsIn(trees, tree)).toEqual(['100644 .gitignore', '100644 src/a.ts']);
  const found = await command(project.project, 'code/search', { pattern: 'found' }, 'full');
  expect(JSON.stringify(found)).toContain('src/a.ts');
  expect(JSON.stringify(found)).not.toContain('b.log');
}, 20_000);

test.each(['readonly', ...(hasSandbox ? (['sandboxed'] as const) : [])] as const)(
  'git does not wait for a configuration that is a pipe, in the project or around it: %s',
  async (mode) => {
    const project = await repository();
    const config = join(project, '.git/config');
    const text = readFileSync(config, 'utf8');
    rmSync(config);
    pipe(project, '.git/config');
    mkdirSync(join(project, 'within'));
    for (const at of [project, join(project, 'within')])
      await expect(command(at, 'code/git', { operation: 'log' }, mode)).rejects.toMatchObject({ code: 'GIT_FAILED' });
    rmSync(config);
    writeFileSync(config, text);
    expect(await command(project, 'code/git', { operation: 'log' }, mode)).toMatchObject({ operation: 'log' });
    rmSync(config);
    expect(await command(project, 'code/git', { operation: 'log' }, mode)).toMatchObject({ operation: 'log' });
  },
  20_000,
);

test('a program that Sentinel starts beside a step ends, whatever it waits for', async () => {
  const root = await temporaryFolder();
  expect(await runHelper('/bin/cat', [pipe(root, 'pipe')])).toMatchObject({ exitCode: undefined, stdout: '' });
  expect(await runHelper('/bin/cat', [], { stdin: 'read' })).toMatchObject({ exitCode: 0, stdout: 'read' });
}, 30_000);
