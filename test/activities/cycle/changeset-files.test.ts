/** A changeset is checked as a whole, and written as a whole or not at all. */
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, test } from 'vitest';
import { applyFiles, revert, settle, type Target } from '../../../systems/cycle/changesets/apply.ts';
import { CHANGESET_BOUNDS, digestOf, type Operation } from '../../../systems/cycle/changesets/changeset.ts';
import { checkChangeset, type Checked } from '../../../systems/cycle/changesets/check.ts';
import { readRecord, writeRecord } from '../../../systems/cycle/changesets/record.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';
import { DRAFTS, FOURTEEN, projectOfFourteen, treeOf } from './fourteen.ts';

interface Project extends WrittenProject {
  target: Target;
  check: (...operations: Operation[]) => Promise<Checked>;
  problems: (...operations: Operation[]) => Promise<string[]>;
}

async function openProject(files: Readonly<Record<string, string | Buffer>> = { 'a.txt': 'one\n' }): Promise<Project> {
  return withTarget(await writtenProject(files));
}

async function withTarget(written: WrittenProject): Promise<Project> {
  const { git } = await written.trees();
  const { project: root } = written;
  const check = (...operations: Operation[]): Promise<Checked> =>
    checkChangeset({ operations }, { root, access: { writes: true }, git });
  return {
    ...written,
    target: { root, place: git.place, check: () => undefined },
    check,
    problems: async (...operations) => (await check(...operations)).problems.map(({ path, why }) => `${path}: ${why}`),
  };
}

const create = (path: string, content = 'new\n'): Operation => ({ operation: 'CREATE', path, content });
const modify = (path: string, content = 'two\n'): Operation => ({ operation: 'MODIFY', path, content });
const remove = (path: string): Operation => ({ operation: 'DELETE', path });

describe('refuses, with the path,', () => {
  test.each<[string, Operation[], string]>([
    ['an empty changeset', [], ': the changeset is empty'],
    ['one path twice', [modify('a.txt'), remove('a.txt')], 'a.txt: is named twice'],
    ['what is outside', [create('../out.txt')], '../out.txt: has a name'],
    ['an absolute path', [create('/etc/passwd')], '/etc/passwd: is absolute'],
    ['a path through "."', [create('./b.txt')], './b.txt: has a name'],
    ['a backslash', [create('a\\b')], 'a\\b: holds a backslash'],
    ['a line end in a path', [create('a\nb')], 'holds a control character'],
    ['NUL in a path', [create('a\0b')], 'holds a NUL byte'],
    ['the deletion of a folder', [remove('folder')], 'folder: is a folder; delete its files'],
    ['the deletion of a folder by "/"', [remove('folder/')], 'folder/: names a folder'],
    ['a file in a file', [create('a.txt/b')], 'a.txt/b: lies in "a.txt", which is a file'],
    [
      'a file in one of its own',
      [create('b'), create('b/c')],
      'b/c: lies in "b", which the changeset takes for a file',
    ],
    ['what is ignored', [create('out/b.txt')], 'out/b.txt: is left out of the states'],
    ['node_modules', [create('node_modules/b.js')], 'node_modules/b.js: is in node_modules'],
    ['the repository', [create('.git/hooks/pre-commit')], '.git/hooks/pre-commit: is protected'],
    ['secrets', [modify('.env')], '.env: is protected'],
    ['a home', [create('.sentinel/b')], '.sentinel/b: is protected'],
    ['through a link', [create('linked/b.txt')], 'linked/b.txt: leads through the link "linked"'],
    ['a submodule', [create('module/b.txt')], 'module/b.txt: lies in another repository, "module"'],
    ['a large file', [modify('large.bin')], 'large.bin: has more than'],
    ['a pipe', [modify('pipe')], 'pipe: is neither a file nor a link'],
    ['what is there', [create('a.txt')], 'a.txt: is there already'],
    ['what is not there', [modify('b.txt')], 'b.txt: is not there'],
    ['the deletion of what is not there', [remove('b.txt')], 'b.txt: is not there'],
    ['no content', [{ operation: 'CREATE', path: 'b.txt' }], 'b.txt: has no content'],
    ['two contents', [{ ...create('b.txt'), base64: 'YQ==' }], 'b.txt: has "content" and "base64"'],
    ['what is no base64', [{ operation: 'CREATE', path: 'b', base64: 'a b!' }], 'b: has content that is no base64'],
    ['text with NUL', [create('b.txt', 'a\0')], 'b.txt: holds NUL bytes'],
    ['a link out', [{ ...create('b', '../../etc'), mode: '120000' }], 'b: is a link that leads out'],
    ['an absolute link', [{ ...create('b', '/etc'), mode: '120000' }], 'b: is a link that leads out'],
    ['a large new file', [create('b', 'x'.repeat(CHANGESET_BOUNDS.fileBytesMax + 1))], 'b: would have'],
    ['100 MB', [create('b', 'x'.repeat(100_000_000))], ': the changeset holds 100000000 characters'],
  ])('%s', async (_what, operations, words) => {
    const project = await openProject({
      'a.txt': 'one\n',
      'folder/c.txt': 'c\n',
      '.gitignore': 'out/\n',
      '.env': 'A=1\n',
      'module/.git': 'gitdir: ../.git/modules/module\n',
      'large.bin': Buffer.alloc(CHANGESET_BOUNDS.fileBytesMax + 1),
    });
    symlinkSync('folder', join(project.project, 'linked'));
    execaSync('mkfifo', [join(project.project, 'pipe')]);
    const found = await project.problems(...operations);
    expect(found.join('\n')).toContain(words);
    expect((await project.check(...operations)).files).toEqual([]);
  });

  test('all that is wrong at once', async () => {
    const { problems } = await openProject();
    expect(await problems(create('a.txt'), modify('b.txt'), create('../c'))).toHaveLength(3);
  });

  test('a repository with a merge under way', async () => {
    const project = await openProject();
    project.git('init', '-q');
    writeFileSync(join(project.project, '.git', 'MERGE_HEAD'), '');
    expect(await project.problems(modify('a.txt'))).toEqual([': a merge is under way in the repository; end it first']);
  });
});

test('binary content, modes, links and CRLF come out as they were given', async () => {
  const project = await openProject({ 'a.txt': 'one\r\ntwo\r\n', 'gone.txt': 'x', 'run.sh': 'echo 1\n' });
  symlinkSync('a.txt', join(project.project, 'link'));
  const bytes = Buffer.from([0, 255, 10, 13, 0]);
  const { files, problems } = await project.check(
    modify('a.txt', 'one\r\nthree\r\n'),
    remove('gone.txt'),
    { operation: 'CREATE', path: 'deep/er/b.bin', base64: bytes.toString('base64') },
    { operation: 'MODIFY', path: 'run.sh', mode: '100755' },
    { operation: 'MODIFY', path: 'link', content: 'run.sh' },
    { operation: 'CREATE', path: 'other', content: 'deep/er', mode: '120000' },
  );
  expect(problems).toEqual([]);
  applyFiles(project.target, files, 'run');
  expect(project.everything()).toEqual([
    'a.txt one\r\nthree\r\n',
    `deep/er/b.bin ${bytes.toString('latin1')}`,
    'link -> run.sh',
    'other -> deep/er',
    'run.sh* echo 1\n',
  ]);
});

test('all bits of a mode are as before after a revert, and a link and a deleted file are there again', async () => {
  const project = await openProject({ 'a.txt': 'one\n', 'key.txt': 'k', 'empty/keep': '' });
  mkdirSync(join(project.project, 'bare'));
  chmodSync(join(project.project, 'key.txt'), 0o640);
  chmodSync(join(project.project, 'a.txt'), 0o604);
  symlinkSync('a.txt', join(project.project, 'link'));
  const before = treeOf(project.project);
  const { files } = await project.check(
    modify('a.txt'),
    remove('key.txt'),
    remove('link'),
    create('bare/b.txt'),
    create('new/deep/c.txt'),
  );
  applyFiles(project.target, files, 'run');
  expect(statSync(join(project.project, 'a.txt')).mode & 0o777).toBe(0o604);
  expect(treeOf(project.project)).not.toEqual(before);
  expect(revert(project.target, digestOf(files))).toEqual([]);
  expect(treeOf(project.project)).toEqual(before);
  expect(readRecord(project.target.place)).toBeNull();
  expect(revert(project.target, digestOf(files))).toBeNull();
});

test('the digest is of the operations and of what they are done to', async () => {
  const project = await openProject();
  const first = digestOf((await project.check(modify('a.txt'))).files);
  expect(digestOf((await project.check(modify('a.txt', 'three\n'))).files)).not.toBe(first);
  project.write({ 'b.txt': 'beside' });
  expect(digestOf((await project.check(modify('a.txt'))).files)).toBe(first);
  project.write({ 'a.txt': 'edited\n' });
  expect(digestOf((await project.check(modify('a.txt'))).files)).not.toBe(first);
});

test('a file that changed since it was planned is stale, and nothing is written', async () => {
  const project = await openProject({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
  const { files } = await project.check(modify('b.txt'), modify('a.txt'), create('c.txt'));
  project.write({ 'a.txt': 'edited\n' });
  expect(() => applyFiles(project.target, files, 'run')).toThrow(expect.objectContaining({ code: 'CHANGESET_STALE' }));
  expect(project.everything()).toEqual(['a.txt edited\n', 'b.txt b\n']);
});

const openFourteen = async (): Promise<Project> => withTarget(await projectOfFourteen());

class Lost extends Error {}

/** Stops before its `at`-th act, as a worker that is gone does: nothing is tidied up. */
function stoppingAt(target: Target, at: number): Target & { acts: () => number } {
  let acts = 0;
  return {
    ...target,
    acts: () => acts,
    check: () => {
      acts += 1;
      if (acts === at) throw new Lost('the worker is gone');
    },
  };
}

describe('whoever comes after one that was lost before act k', () => {
  // Two before the first draft, a draft for each that is no deletion, and one for each file.
  const acts = 2 + DRAFTS + FOURTEEN.length;
  test('there are as many acts as are tried', async () => {
    const project = await openFourteen();
    const counting = stoppingAt(project.target, Number.POSITIVE_INFINITY);
    applyFiles(counting, (await project.check(...FOURTEEN)).files, 'run');
    expect(counting.acts()).toBe(acts);
  });

  test.each(Array.from({ length: acts }, (_, k) => k + 1))('%i leaves all as before', async (k) => {
    const project = await openFourteen();
    const before = treeOf(project.project);
    const { files } = await project.check(...FOURTEEN);
    expect(() => applyFiles(stoppingAt(project.target, k), files, 'run')).toThrow(Lost);
    // The one that takes back is lost, too, at each of its own acts.
    for (let at = 1; ; at += 1) {
      try {
        settle(stoppingAt(project.target, at));
        break;
      } catch (error) {
        expect(error).toBeInstanceOf(Lost);
      }
    }
    expect(treeOf(project.project)).toEqual(before);
    expect(readRecord(project.target.place)).toBeNull();
  });

  test('and after the last goes forward', async () => {
    const project = await openFourteen();
    const { files } = await project.check(...FOURTEEN);
    applyFiles(project.target, files, 'run');
    const applied = treeOf(project.project);
    const record = readRecord(project.target.place);
    if (record === null) throw new Error('no record is kept');
    writeRecord(project.target.place, { ...record, phase: 'writing' });
    expect(settle(project.target)).toEqual({ how: 'forward', digest: digestOf(files), left: [] });
    expect(treeOf(project.project)).toEqual(applied);
  });
});

test('what a person writes meanwhile is left as it is, and is named', async () => {
  const project = await openFourteen();
  const { files } = await project.check(...FOURTEEN);
  expect(() => applyFiles(stoppingAt(project.target, 20), files, 'run')).toThrow(Lost);
  project.write({ 'm1.txt': 'mine\n' });
  expect(settle(project.target)).toMatchObject({ how: 'back', left: ['m1.txt'] });
  expect(project.read('m1.txt')).toBe('mine\n');
  expect(project.read('m2.txt')).toBe('m2.txt before\n');
  expect(project.read('own.txt')).toBe("a person's own\n");
});

test('a record that cannot be read stops everything, and says where it is', async () => {
  const project = await openProject();
  const { files } = await project.check(modify('a.txt'));
  applyFiles(project.target, files, 'run');
  writeFileSync(join(project.target.place, 'changeset', 'record.json'), '{"half":');
  expect(() => settle(project.target)).toThrow(/record\.json does not say/);
  expect(project.read('a.txt')).toBe('two\n');
});
