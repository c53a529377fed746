/** The snapshot, the patch and what is taken back, on real repositories; and what a model cannot change. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { StepCheckpoints } from '../../../operations/checkpoints/step-checkpoints.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { changesBetween, countedFiles, patchBetween, restore } from '../../../systems/integrate/tree-changes.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';

let written: WrittenProject;
beforeEach(async () => {
  written = await writtenProject({
    'a.txt': 'one\ntwo\n',
    'crlf.txt': 'one\r\ntwo\r\n',
    'with space.txt': 'x\n',
    'gone.txt': 'x\n',
    'run.sh': '#!/bin/sh\n',
    'blob.bin': Buffer.from([0, 1, 2, 255]),
    '.gitignore': 'ignored/\n',
    'ignored/a': 'x',
  });
  written.git('init', '-q');
  written.git('add', 'a.txt', '.gitignore');
  written.git('commit', '-q', '-m', 'first');
  written.write({ 'a.txt': 'one\ntwo\nof the task\n', 'ä.txt': 'untracked\n' });
});

const standing = (): string[] => [
  written.git('rev-parse', 'HEAD'),
  written.git('diff', '--cached', '--raw'),
  written.git('status', '--porcelain', '--untracked-files=no'),
  written.git('stash', 'list'),
];

async function changed() {
  const trees = await written.trees();
  const { tree: before } = await trees.take();
  const copy = await temporaryFolder();
  cpSync(written.project, copy, { recursive: true });
  const { project } = written;
  written.write({
    'a.txt': 'one\nTWO\nof the task\n',
    'crlf.txt': 'one\r\nTWO\r\n',
    'with space.txt': 'y',
    'ä.txt': 'changed\n',
    'new/file.txt': 'new\n',
    'blob.bin': Buffer.from([0, 3, 2, 255]),
    '.claude/sentinel/T1/manifest.json': '{}',
    '__pycache__/a.pyc': 'x',
  });
  rmSync(join(project, 'gone.txt'));
  chmodSync(join(project, 'run.sh'), 0o755);
  symlinkSync('a.txt', join(project, 'link'));
  const { tree: after } = await trees.take();
  return { trees, copy, pair: { before, after } };
}

const PATHS = [
  'a.txt',
  'blob.bin',
  'crlf.txt',
  'gone.txt',
  'link',
  'new/file.txt',
  'run.sh',
  'with space.txt',
  'ä.txt',
];

test('the patch turns the snapshot into what is there, whatever the files hold', async () => {
  const before = standing();
  const { trees, copy, pair } = await changed();
  const changes = (await changesBetween(trees.git, pair)).filter(({ path }) => !path.startsWith('.claude/'));
  expect(changes.map(({ path }) => path).toSorted()).toEqual(PATHS.toSorted());
  const counted = await countedFiles(trees.git, pair, changes);
  expect(counted.find(({ path }) => path === 'a.txt')).toEqual({ path: 'a.txt', lines_added: 1, lines_removed: 1 });
  const patch = await patchBetween(trees.git, pair, PATHS);
  const file = join(await temporaryFolder(), 'diff.patch');
  writeFileSync(file, patch);
  const apply = (...args: string[]): string =>
    execFileSync('git', ['apply', ...args, file], { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  apply('--check');
  apply();
  const here = written.everything().filter((line) => !/\.claude|__pycache__|\.git(?:\/| )/.test(line));
  const there = written.everything(copy).filter((line) => !/\.claude|__pycache__|\.git(?:\/| )/.test(line));
  expect(there).toEqual(here);
  expect(standing()).toEqual(before);
});

test('a file that holds secrets is in no patch', async () => {
  const { trees, pair } = await changed();
  written.write({ id_rsa: 'SECRET' });
  const { tree } = await trees.take();
  const patch = await patchBetween(trees.git, { ...pair, after: tree }, [...PATHS, 'id_rsa']);
  expect(patch.toString()).not.toContain('SECRET');
});

test('taken back, all is as in the snapshot, twice over; what somebody else changed stays', async () => {
  const before = standing();
  const { trees, pair, copy } = await changed();
  const changes = (await changesBetween(trees.git, pair)).filter(({ path }) => !path.startsWith('.claude/'));
  const place = { git: trees.git, root: written.project, check: () => undefined };
  written.write({ 'ä.txt': 'of somebody else\n' });
  expect(await restore(place, changes)).toMatchObject({ left: ['ä.txt'] });
  expect((await restore(place, changes)).left).toEqual(['ä.txt']);
  expect(written.read('ä.txt')).toBe('of somebody else\n');
  written.write({ 'ä.txt': 'untracked\n' });
  const files = (folder: string): string[] =>
    written.everything(folder).filter((line) => !/\.claude|__pycache__|\.git(?:\/| )/.test(line));
  expect(files(written.project)).toEqual(files(copy));
  expect(standing()).toEqual(before);
});

test.each([
  'node_modules/a.js',
  'ignored/b',
  '.claude/sentinel/T1/manifest.json',
  'sub/../ignored/b',
  'away/b',
  '.sentinel/a',
])('a model cannot change %s', async (path) => {
  symlinkSync('ignored', join(written.project, 'away'));
  const checkpoints = new StepCheckpoints({} as ConstructorParameters<typeof StepCheckpoints>[0], written.home);
  const context = commandContext(written.project, { checkpoints });
  const put = builtInRegistry().run('integrate/put', { path, content: 'x' }, context);
  await expect(put).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:INTEGRATION_UNSEEN|PATH_PROTECTED)$/) as string,
  });
  await builtInRegistry().run('integrate/put', { path: 'src/[a].py', content: 'x' }, context);
  expect(written.read('src/[a].py')).toBe('x');
});
