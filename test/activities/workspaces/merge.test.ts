/** Merges: whole or not at all, conflicts as data, and what counts as resolved. */
import { expect, test } from 'vitest';
import { endWorkspace } from '../../../operations/workspaces/end-workspace.ts';
import { forkWorkspace } from '../../../operations/workspaces/open-workspace.ts';
import { type Workspace, workspaceAt } from '../../../operations/workspaces/records.ts';
import { type Hunk, hunksIn } from '../../../world/git/worktrees/merge-commits.ts';
import { git, projectOfWorkspaces, read, useCache, write } from './workspaces-of.ts';

useCache();

const hasEnded = (): Promise<boolean> => Promise.resolve(false);
const marker = (sign: string): string => sign.repeat(61);
const LINES = 'a\nb\nc\nd\ne\nf\ng\n';

test('each kind of conflict has its path, its kind and its passages, and nothing of the branch is merged', async () => {
  const { project, open, work, merge } = await projectOfWorkspaces({
    'text.txt': LINES,
    'gone-here.txt': 'x\n',
    'gone-there.txt': 'x\n',
    'data.bin': new Uint8Array([0, 1, 2, 3]),
    'ä \n"odd".txt': LINES,
  });
  const [ours, theirs] = [await open({ branch: 'ours' }), await open({ branch: 'theirs' })];
  const lines = (word: string): string => LINES.replace('b', `b ${word}`).replace('f', `f ${word}`);
  work(ours, {
    'text.txt': lines('ours'),
    'gone-here.txt': null,
    'gone-there.txt': 'ours\n',
    'data.bin': new Uint8Array([0, 9]),
    'both.txt': 'ours\n',
    'ä \n"odd".txt': lines('ours'),
  });
  work(theirs, {
    'text.txt': lines('theirs'),
    'gone-here.txt': 'theirs\n',
    'gone-there.txt': null,
    'data.bin': new Uint8Array([0, 8]),
    'both.txt': 'theirs\n',
    'ä \n"odd".txt': lines('theirs'),
    'alone.txt': 'theirs\n',
  });
  const before = git(ours.folder, 'rev-parse', 'HEAD');
  const { conflicts, merged, commit } = await merge(['theirs'], { at: ours });
  expect([merged, commit]).toEqual([[], before]);
  const hunks = [
    { line: 2, ours: 'b ours\n', base: 'b\n', theirs: 'b theirs\n' },
    { line: 6, ours: 'f ours\n', base: 'f\n', theirs: 'f theirs\n' },
  ];
  expect(Object.fromEntries(conflicts.map(({ path, kind, hunks: found }) => [path, { kind, hunks: found }]))).toEqual({
    'text.txt': { kind: 'both-changed', hunks },
    'ä \n"odd".txt': { kind: 'both-changed', hunks },
    'both.txt': { kind: 'both-added', hunks: [{ line: 1, ours: 'ours\n', base: '', theirs: 'theirs\n' }] },
    'gone-here.txt': { kind: 'deleted-by-ours', hunks: [] },
    'gone-there.txt': { kind: 'deleted-by-theirs', hunks: [] },
    'data.bin': { kind: 'binary', hunks: [] },
  });
  expect(conflicts.every(({ message }) => message !== '' && !/[0-9a-f]{40}/.test(message))).toBe(true);
  expect(git(ours.folder, 'status', '--porcelain')).toBe('');
  expect(git(project, 'status', '--porcelain')).toBe('');
});

test('a conflict is resolved by an edit that takes its passage away, or by name, and by nothing else', async () => {
  const { open, work, merge } = await projectOfWorkspaces({ 'text.txt': LINES, 'gone.txt': 'x\n' });
  const [ours, theirs] = [await open({ branch: 'ours' }), await open({ branch: 'theirs' })];
  work(ours, { 'text.txt': LINES.replace('b', 'ours'), 'gone.txt': null });
  work(theirs, { 'text.txt': LINES.replace('b', 'theirs'), 'gone.txt': 'theirs\n', 'alone.txt': 'theirs\n' });
  const paths = async (how: object = {}): Promise<string[]> =>
    (await merge(['theirs'], { at: ours, ...how })).conflicts.map(({ path }) => path);
  expect(await paths()).toEqual(['gone.txt', 'text.txt']);
  expect(await paths()).toEqual(['gone.txt', 'text.txt']);
  write(ours.folder, { 'text.txt': `${LINES.replace('b', 'ours')}a line more\n` });
  expect(await paths()).toEqual(['gone.txt', 'text.txt']);
  write(ours.folder, { 'text.txt': LINES.replace('b', 'both') });
  expect(await paths()).toEqual(['gone.txt']);
  expect(await paths({ resolved: ['gone.txt'] })).toEqual([]);
  expect(git(ours.folder, 'ls-tree', '--name-only', 'HEAD').split('\n')).toEqual(['a.txt', 'alone.txt', 'text.txt']);
  expect(read(ours.folder, 'text.txt')).toBe(LINES.replace('b', 'both'));
  expect(git(ours.folder, 'log', '-1', '--format=%p').split(' ')).toHaveLength(2);
  expect((await workspaceAt(ours.folder))?.unresolved).toEqual([]);
});

test('a name alone resolves no conflict that nobody was told of', async () => {
  const { open, work, merge } = await projectOfWorkspaces({ 'text.txt': LINES });
  const [ours, theirs] = [await open({ branch: 'ours' }), await open({ branch: 'theirs' })];
  work(ours, { 'text.txt': LINES.replace('b', 'ours') });
  work(theirs, { 'text.txt': LINES.replace('b', 'theirs') });
  expect((await merge(['theirs'], { at: ours, resolved: ['text.txt'] })).conflicts).toHaveLength(1);
  work(theirs, { 'text.txt': LINES.replace('b', 'later') });
  expect((await merge(['theirs'], { at: ours, resolved: ['text.txt'] })).conflicts).toHaveLength(1);
  expect((await merge(['theirs'], { at: ours, resolved: ['text.txt'] })).conflicts).toEqual([]);
});

test('what another merge changes in a file resolves no conflict in it', async () => {
  const { open, work, merge } = await projectOfWorkspaces({ 'text.txt': LINES });
  const [ours, one, other] = [
    await open({ branch: 'ours' }),
    await open({ branch: 'one' }),
    await open({ branch: 'other' }),
  ];
  work(ours, { 'text.txt': LINES.replace('b', 'ours') });
  work(one, { 'text.txt': LINES.replace('b', 'one') });
  git(other.folder, 'merge', '--quiet', '--ff-only', 'ours');
  work(other, { 'text.txt': LINES.replace('b', 'other') });
  expect((await merge(['one', 'other'], { at: ours })).conflicts.map(({ branch }) => branch)).toEqual(['one']);
  expect(read(ours.folder, 'text.txt')).toBe(LINES.replace('b', 'other'));
  expect((await merge(['one'], { at: ours })).conflicts).toMatchObject([
    { hunks: [{ ours: 'other\n', theirs: 'one\n' }] },
  ]);
  expect(await endWorkspace(ours.folder, { title: 'work', by: 'a-run' })).toMatchObject({ unmerged: ['one'] });
  write(ours.folder, { 'text.txt': LINES.replace('b', 'all') });
  expect(await endWorkspace(ours.folder, { title: 'work', by: 'a-run' })).not.toHaveProperty('unmerged');
  expect(git(ours.folder, 'merge-base', '--is-ancestor', 'one', 'ours')).toBe('');
});

test('a branch that is checked out elsewhere moves only where it is named, and only over a clean work tree', async () => {
  const { project, open, work, merge } = await projectOfWorkspaces({ '.gitignore': 'ignored.txt\n' });
  const workspace = await open({ branch: 'work' });
  work(workspace, { 'a.txt': 'new\n', 'b.txt': 'new\n' });
  await expect(merge(['work'])).rejects.toMatchObject({
    code: 'WORKSPACE_REFUSED',
    message: expect.stringContaining('"into"'),
  });
  const before = git(project, 'rev-parse', 'main');
  write(project, { 'a.txt': 'mine\n' });
  await expect(merge(['work'], { into: 'main' })).rejects.toMatchObject({
    code: 'WORKSPACE_DIRTY',
    message: expect.stringContaining('a.txt'),
    details: { path: project, files: ['a.txt'] },
  });
  git(project, 'checkout', '--quiet', 'a.txt');
  write(project, { 'b.txt': 'mine\n' });
  await expect(merge(['work'], { into: 'main' })).rejects.toMatchObject({
    code: 'WORKSPACE_DIRTY',
    message: expect.stringContaining('b.txt'),
  });
  expect([git(project, 'rev-parse', 'main'), read(project, 'a.txt'), read(project, 'b.txt')]).toEqual([
    before,
    'one\n',
    'mine\n',
  ]);
  git(project, 'clean', '--quiet', '--force');
  expect(await merge(['work'], { into: 'main' })).toMatchObject({ conflicts: [] });
  expect([read(project, 'a.txt'), read(project, 'b.txt')]).toEqual(['new\n', 'new\n']);
  expect(git(project, 'status', '--porcelain')).toBe('');
});

test.each([
  [['nowhere'], { into: 'main' }],
  [['main'], { into: 'nowhere' }],
])('merging %j into %j names what is not there', async (branches, how) => {
  const { merge } = await projectOfWorkspaces();
  await expect(merge(branches, how)).rejects.toMatchObject({
    code: 'WORKSPACE_NOT_FOUND',
    message: expect.stringContaining('"nowhere"'),
  });
});

test('copies that were forked from a copy are merged there', async () => {
  const { open, work, merge } = await projectOfWorkspaces({ 'text.txt': LINES });
  const parent = await open({ isolationType: 'copy', branch: 'apart' });
  const child = await forkWorkspace(parent.root, 'child', { handle: 'child', key: 'steps.1@1', isRunning: hasEnded });
  expect(child).toMatchObject({ isolationType: 'copy', branch: 'apart.child', parent: 'apart' });
  work(child, { 'text.txt': LINES.replace('b', 'child') });
  expect(await merge(['apart.child'], { at: parent })).toMatchObject({ conflicts: [] });
  expect(read(parent.folder, 'text.txt')).toBe(LINES.replace('b', 'child'));
});

/** Both sides put words behind lines: each line gets those of both. */
function withBoth({ ours, base, theirs }: Hunk): string {
  const [before, added] = [base.split('\n'), theirs.split('\n')];
  return ours
    .split('\n')
    .map((line, at) => `${line}${(added[at] ?? '').slice(before[at]?.length)}`)
    .join('\n');
}

test('two runs in two work trees edit the same files for 20 rounds: nothing is lost, and every conflict is told', async () => {
  const names = ['x.txt', 'y.txt'];
  const { project, open, work, merge } = await projectOfWorkspaces(
    Object.fromEntries(names.map((name) => [name, LINES])),
  );
  git(project, 'branch', 'together');
  const [left, right] = [await open({ branch: 'left' }), await open({ branch: 'right' })];
  const sides = [left, right];
  /** Words that the files are to hold: each round, each run puts one behind a line of its choice. */
  const said: string[] = [];
  let conflicts = 0;
  let random = 7;
  const choose = (below: number): number => (random = (random * 48_271) % 2_147_483_647) % below;
  const round = async (number: number, side: Workspace): Promise<void> => {
    const merged = await merge(['together'], { at: side });
    expect(merged.conflicts).toEqual([]);
    const [name = '', line = 'a'] = [names[choose(2)], 'abcdefg'[choose(7)]];
    const word = `${side.branch}-${number}`;
    said.push(word);
    work(side, { [name]: read(side.folder, name).replace(new RegExp(`^${line}.*$`, 'm'), (all) => `${all} ${word}`) });
  };
  for (let number = 1; number <= 20; number += 1) {
    for (const side of sides) await round(number, side);
    const both = await Promise.all(sides.map(({ branch }) => merge([branch], { into: 'together' })));
    const told = both.flatMap((one) => one.conflicts);
    for (const { branch, path, hunks } of told) {
      conflicts += 1;
      const side = branch === 'left' ? left : right;
      const again = await merge(['together'], { at: side });
      expect(again.conflicts.map((one) => one.path)).toEqual([path]);
      for (const hunk of again.conflicts[0]?.hunks ?? [])
        write(side.folder, { [path]: read(side.folder, path).replace(hunk.ours, withBoth(hunk)) });
      expect(hunks.length).toBeGreaterThan(0);
      expect((await merge(['together'], { at: side, resolved: [path] })).conflicts).toEqual([]);
      expect((await merge([branch], { into: 'together' })).conflicts).toEqual([]);
    }
  }
  const words = names.flatMap((name) => git(project, 'show', `together:${name}`).match(/(?:left|right)-\d+/g) ?? []);
  expect(words.toSorted()).toEqual(said.toSorted());
  expect(conflicts).toBeGreaterThan(0);
});

test('passages are read whatever stands in the file', () => {
  const text = `a\n<<<<<<< no marker\n${marker('<')} ours\nx\n${marker('|')} base\n${marker('=')}\ny\n=======\n${marker('>')} theirs\nz`;
  expect(hunksIn(text)).toEqual([{ line: 3, ours: 'x\n', base: '', theirs: 'y\n=======\n' }]);
});
