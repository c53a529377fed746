/** The state of a project as a tree: what is in it, what is not, and that nothing of the project starts or changes. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { adoptHome } from '../../../services/home/own-home.ts';
import { CHECKPOINT_BOUNDS } from '../../../world/git/trees/bounds.ts';
import { GitTrouble } from '../../../world/git/trees/shadow-git.ts';
import { sweepTrees } from '../../../operations/checkpoints/sweep-trees.ts';
import { diffTrees, patchOf, readBlobs } from '../../../world/git/trees/tree-diffs.ts';
import { pathsIn, writtenProject } from '../harness/written-project.ts';

const dayMs = 86_400_000;

test('files, modes and links are in; what is ignored, .git, homes and node_modules are not', async () => {
  const { project, trees, write, git } = await writtenProject({
    'a.txt': 'a',
    'src/b.ts': 'b',
    'run.sh': '#!/bin/sh',
    '.gitignore': 'ignored\n!.sentinel\n!node_modules\n',
    ignored: 'x',
    'node_modules/m/index.js': 'x',
    '.sentinel/postgres.password': 'x',
    'other/services/data': 'x',
    'name with "quotes" and\nlines': 'x',
  });
  adoptHome(join(project, 'other/services'));
  chmodSync(join(project, 'run.sh'), 0o755);
  symlinkSync('/etc/passwd', join(project, 'link'));
  writeFileSync(Buffer.from(`${project}/no\xff-utf8`, 'latin1'), 'x');
  git('init', '-q');
  const opened = await trees();
  const { tree, large } = await opened.take();
  expect(large).toEqual({});
  expect(await pathsIn(opened, tree)).toEqual([
    '100644 .gitignore',
    '100644 a.txt',
    '120000 link',
    '100644 name with "quotes" and\nlines',
    '100755 run.sh',
    '100644 src/b.ts',
  ]);
  write({ 'a.txt': 'another' });
  const next = await opened.take();
  expect((await diffTrees(opened.git, [{ before: tree, after: next.tree }]))[0]?.map(({ path }) => path)).toEqual([
    'a.txt',
  ]);
  // Unchanged: the same state.
  expect(await opened.take()).toEqual(next);
});

test('content is kept byte for byte, and no filter, hook or monitor of the project starts', async () => {
  const { project, trees, write, git, everything } = await writtenProject();
  git('init', '-q');
  const started = join(project, 'started');
  write({
    '.gitattributes': '* text=auto eol=lf filter=evil ident working-tree-encoding=UTF-16 diff=evil\n',
    'crlf.txt': 'one\r\ntwo\r\n',
    'id.txt': '$Id: kept as it is $\n',
    '.git/hooks/post-index-change': `#!/bin/sh\ntouch ${started}\n`,
  });
  for (const [name, value] of [
    ['filter.evil.clean', `touch ${started}; cat`],
    ['filter.evil.required', 'true'],
    ['diff.evil.command', `touch ${started}`],
    ['diff.evil.textconv', `touch ${started}; cat`],
    ['core.fsmonitor', `touch ${started}`],
    ['core.hooksPath', join(project, '.git/hooks')],
  ] as const)
    git('config', name, value);
  chmodSync(join(project, '.git/hooks/post-index-change'), 0o755);
  const before = everything(join(project, '.git'));
  const opened = await trees();
  const first = await opened.take();
  write({ 'crlf.txt': 'one\r\nthree\r\n' });
  const next = await opened.take();
  const [changes = []] = await diffTrees(opened.git, [{ before: first.tree, after: next.tree }]);
  const blobs = changes.flatMap(({ before: was, after: is }) => [was?.blob ?? '', is?.blob ?? '']);
  expect([...(await readBlobs(opened.git, blobs)).values()].map(String)).toEqual([
    'one\r\ntwo\r\n',
    'one\r\nthree\r\n',
  ]);
  expect((await patchOf(opened.git, { before: first.tree, after: next.tree }, null)).text).toContain('+three');
  expect(existsSync(started)).toBe(false);
  expect(everything(join(project, '.git'))).toEqual(before);
});

test('a repository inside the project is part of it, committed or not', async () => {
  const { project, trees, write, git } = await writtenProject({ 'inner/a.txt': 'a', 'empty/b.txt': 'b', 'c.txt': 'c' });
  for (const folder of ['inner', 'empty']) git('init', '-q', folder);
  git('-C', 'inner', 'add', '.');
  git('-C', 'inner', 'commit', '-qm', 'first');
  const opened = await trees();
  const { tree } = await opened.take();
  expect(await pathsIn(opened, tree)).toEqual(['100644 c.txt', '100644 empty/b.txt', '100644 inner/a.txt']);
  write({ 'inner/new.txt': 'n' });
  rmSync(join(project, 'inner/a.txt'));
  expect(await pathsIn(opened, (await opened.take()).tree)).toEqual([
    '100644 c.txt',
    '100644 empty/b.txt',
    '100644 inner/new.txt',
  ]);
});

test('a file takes the place of a folder, a folder that of a file, a link that of either', async () => {
  const { project, trees, write } = await writtenProject({ 'a/x': '1', b: '2', 'c/y': '3' });
  const opened = await trees();
  await opened.take();
  for (const name of ['a', 'b', 'c']) rmSync(join(project, name), { recursive: true });
  write({ a: '4', 'b/z': '5' });
  symlinkSync('b', join(project, 'c'));
  expect(await pathsIn(opened, (await opened.take()).tree)).toEqual(['100644 a', '100644 b/z', '120000 c']);
});

test('a file that is too large is left out and named, also one that grows', async () => {
  const { trees, write } = await writtenProject({ small: 's' });
  const opened = await trees();
  await opened.take();
  const huge = Buffer.alloc(CHECKPOINT_BOUNDS.fileBytesMax + 1);
  write({ small: huge, other: huge });
  const { tree, large } = await opened.take();
  expect(await pathsIn(opened, tree)).toEqual([]);
  expect(Object.keys(large).toSorted()).toEqual(['other', 'small']);
  write({ small: 'again' });
  expect(await pathsIn(opened, (await opened.take()).tree)).toEqual(['100644 small']);
});

test('another process begins with what this one saw, and both find the same', async () => {
  const { trees, write } = await writtenProject({ 'a.txt': 'a', 'b.txt': 'b' });
  const first = await trees();
  await first.take();
  const second = await trees();
  write({ 'b.txt': 'changed' });
  const [one, two] = await Promise.all([first.take(), second.take()]);
  expect(one).toEqual(two);
});

test('a change in the second in which the index was written is seen by who begins with it', async () => {
  const { trees, write } = await writtenProject({ 'a.txt': 'a' });
  await sleep(1050 - (Date.now() % 1000));
  const opened = await trees();
  write({ 'a.txt': 'b' });
  const { tree } = await opened.take();
  // As long, and to a second as old.
  write({ 'a.txt': 'c' });
  await sleep(1100);
  expect((await (await trees()).take()).tree).not.toBe(tree);
});

test('a lock that a killed look left behind holds up nobody', async () => {
  const { trees, write } = await writtenProject({ 'a.txt': 'a' });
  const opened = await trees();
  const first = await opened.take();
  writeFileSync(`${opened.git.index}.lock`, '');
  write({ 'a.txt': 'b' });
  expect((await opened.take()).tree).not.toBe(first.tree);
});

test('more than a state can hold is said at once', async () => {
  const { project, trees } = await writtenProject();
  mkdirSync(join(project, 'many'));
  for (let at = 0; at <= CHECKPOINT_BOUNDS.filesMax; at += 1) writeFileSync(join(project, 'many', String(at)), '');
  await expect((await trees()).take()).rejects.toThrow(GitTrouble);
});

test('states outlive a clean-up, and go thirty days after they were last taken', async () => {
  const { home, trees, write } = await writtenProject({ 'a.txt': 'first' });
  const opened = await trees();
  const { git } = opened;
  const first = await opened.take();
  write({ 'a.txt': 'second' });
  const second = await opened.take();
  const reference = (tree: string): string => join(git.place, 'refs/checkpoints', tree.slice(0, 2), tree.slice(2));
  const old = new Date(Date.now() - 31 * dayMs);
  utimesSync(reference(first.tree), old, old);
  // What git may take away is old as well.
  for (const folder of readdirSync(join(git.place, 'objects')).filter((name) => name.length === 2))
    for (const name of readdirSync(join(git.place, 'objects', folder)))
      utimesSync(join(git.place, 'objects', folder, name), old, old);
  await sweepTrees(home);
  await expect(git.text(['cat-file', '-t', first.tree])).rejects.toThrow('cat-file');
  expect(await pathsIn(opened, second.tree)).toEqual(['100644 a.txt']);
  expect(statSync(reference(second.tree)).isFile()).toBe(true);
  // What the index held is there still.
  write({ 'b.txt': 'third' });
  expect(await pathsIn(opened, (await opened.take()).tree)).toEqual(['100644 a.txt', '100644 b.txt']);
});
