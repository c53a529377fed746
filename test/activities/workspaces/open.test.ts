/** Workspaces as they are made, found taken or broken, and removed. */
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endWorkspace } from '../../../operations/workspaces/end-workspace.ts';
import { forkWorkspace, openWorkspace } from '../../../operations/workspaces/open-workspace.ts';
import { keepRecord, passOn, workspacesOf } from '../../../operations/workspaces/records.ts';
import { takeOverWorkspace } from '../../../operations/workspaces/take-over.ts';
import {
  KEPT_DAYS,
  removeWorkspace,
  standingOf,
  sweepWorkspaces,
} from '../../../operations/workspaces/remove-workspace.ts';
import { temporaryFolder } from '../harness/step-context.ts';
import { git, projectOfWorkspaces, read, useCache, write } from './workspaces-of.ts';

useCache();

const by = { handle: 'a-run', key: 'steps.0@1' };
const ended = (): Promise<boolean> => Promise.resolve(false);

test('the same step makes one workspace, however often it is tried, also where an attempt was lost half-way', async () => {
  const { project, open } = await projectOfWorkspaces();
  const first = await open({ branch: 'once' }, by);
  expect(await open({ branch: 'once' }, by)).toEqual(first);
  await keepRecord({ ...first, isReady: false });
  rmSync(join(first.folder, '.git'));
  const again = await open({ branch: 'once' }, by);
  expect(again.folder).toBe(first.folder);
  expect(read(again.folder, 'a.txt')).toBe('one\n');
  expect(await workspacesOf(project)).toHaveLength(1);
  expect(git(project, 'worktree', 'list').split('\n')).toHaveLength(2);
});

test('two branches whose names make one folder have two', async () => {
  const { open } = await projectOfWorkspaces();
  const [one, other] = [await open({ branch: 'a/b' }), await open({ branch: 'a-b' })];
  expect([one.name, other.name]).toEqual(['a-b', 'a-b-2']);
});

test('a branch that exists is refused with its place and the remedy, and nothing is made', async () => {
  const { project, open, running } = await projectOfWorkspaces();
  git(project, 'branch', 'there');
  await expect(open({ branch: 'there' })).rejects.toMatchObject({
    code: 'WORKSPACE_TAKEN',
    message: 'the branch "there" exists already; name another, or say "reuse": true to go on with it',
  });
  await expect(open({ branch: 'main' })).rejects.toMatchObject({
    code: 'WORKSPACE_TAKEN',
    message: `the branch "main" is checked out in ${project}; name another, or switch that folder to another branch`,
  });
  await expect(open({ branch: 'main', reuse: true })).rejects.toMatchObject({ code: 'WORKSPACE_TAKEN' });
  await expect(open({ branch: 'main/below' })).rejects.toMatchObject({ code: 'WORKSPACE_TAKEN' });
  expect(await workspacesOf(project)).toEqual([]);
  const reused = await open({ branch: 'there', reuse: true }, by);
  expect(git(reused.folder, 'branch', '--show-current')).toBe('there');
  running.add('a-run');
  for (const reuse of [true, false])
    await expect(open({ branch: 'there', reuse })).rejects.toMatchObject({
      code: 'WORKSPACE_TAKEN',
      message: expect.stringContaining('a-run'),
    });
  running.clear();
  expect(await open({ branch: 'there', reuse: true }, { handle: 'later' })).toMatchObject({
    folder: reused.folder,
    handle: 'later',
  });
});

test.each([
  [{ branch: 'two..dots' }, '"two..dots" is no name for a branch'],
  [{ branch: 'ends.lock' }, '"ends.lock" is no name for a branch'],
  [{ from: 'nowhere' }, '"nowhere" names no commit'],
  [{ isolationType: 'copy', from: 'main' } as const, 'leave out "from"'],
])('%j is refused, and says why', async (asked, said) => {
  const { project, open } = await projectOfWorkspaces();
  await expect(open(asked)).rejects.toMatchObject({
    code: 'WORKSPACE_REFUSED',
    message: expect.stringContaining(said),
  });
  expect(await workspacesOf(project)).toEqual([]);
});

test('a project without a repository, or without a commit, has copies alone', async () => {
  const bare = await temporaryFolder();
  write(bare, { 'a.txt': 'one\n' });
  const asked = { branch: 'work', isolationType: 'worktree' } as const;
  const owner = { ...by, isRunning: ended };
  await expect(openWorkspace(bare, asked, owner)).rejects.toMatchObject({
    code: 'WORKSPACE_REFUSED',
    message: expect.stringContaining('git init'),
  });
  git(bare, 'init', '--quiet');
  await expect(openWorkspace(bare, asked, owner)).rejects.toMatchObject({
    message: expect.stringContaining('has no commit yet'),
  });
  const copy = await openWorkspace(bare, { ...asked, isolationType: 'copy' }, owner);
  expect(read(copy.folder, 'a.txt')).toBe('one\n');
});

test('a copy holds what no commit has and what git ignores, has the history, and its branch is merged from there', async () => {
  const { project, open, merge, work } = await projectOfWorkspaces({ '.gitignore': 'build\n' });
  write(project, { 'build/out': 'built\n', 'a.txt': 'changed\n', '.env': 'KEY=1\n', '.sentinel/home': 'x' });
  const copy = await open({ isolationType: 'copy', branch: 'apart' });
  expect([read(copy.folder, 'build/out'), read(copy.folder, 'a.txt')]).toEqual(['built\n', 'changed\n']);
  expect(existsSync(join(copy.folder, '.sentinel'))).toBe(false);
  expect(git(copy.folder, 'log', '--format=%s').split('\n')).toEqual([
    'The project as it was when it was copied',
    'as it was',
    'first',
  ]);
  expect(git(copy.folder, 'status', '--porcelain')).toBe('?? .env');
  expect(git(project, 'branch', '--list', 'apart')).toBe('');
  work(copy, { 'b.txt': 'new\n' });
  git(project, 'branch', 'collected');
  expect(await merge(['apart'], { into: 'collected' })).toMatchObject({ conflicts: [] });
  expect(git(project, 'show', 'collected:b.txt')).toBe('new');
  expect(read(project, 'a.txt')).toBe('changed\n');
  expect(await standingOf(copy)).toMatchObject({ unmerged: 0 });
});

test('a nested run forks the workspace as it is, and its branch has the first name that is free', async () => {
  const { project, open } = await projectOfWorkspaces();
  const parent = await open({ branch: 'feature/x' });
  write(parent.folder, { 'draft.txt': 'draft\n' });
  const fork = (key: string) => forkWorkspace(parent.root, 'front end', { handle: 'child', key, isRunning: ended });
  const [one, other] = await Promise.all([fork('steps.1@1'), fork('steps.2@1')]);
  expect([one.branch, other.branch].toSorted()).toEqual(['feature/x.front-end', 'feature/x.front-end-2']);
  expect(read(one.folder, 'draft.txt')).toBe('draft\n');
  expect(one.parent).toBe('feature/x');
  expect((await fork('steps.1@1')).folder).toBe(one.folder);
  expect(git(project, 'status', '--porcelain')).toBe('');
});

test('a run that works in a folder of its repository works in that folder of the work tree', async () => {
  const { project } = await projectOfWorkspaces({ 'packages/app/index.js': 'app\n' });
  const below = await openWorkspace(
    join(project, 'packages/app'),
    { isolationType: 'worktree', branch: 'app' },
    { ...by, isRunning: ended },
  );
  expect(read(below.root, 'index.js')).toBe('app\n');
  expect(below.root).toBe(join(below.folder, 'packages/app'));
});

test('one that was removed by hand is said to be gone, and can be removed and made again from its branch', async () => {
  const { project, open, work } = await projectOfWorkspaces();
  const workspace = await open({ branch: 'lost' });
  work(workspace, { 'b.txt': 'kept\n' });
  rmSync(workspace.folder, { recursive: true });
  for (const refused of [
    endWorkspace(workspace.folder, { title: 'work', by: 'a-run' }),
    forkWorkspace(workspace.folder, 'child', { ...by, isRunning: ended }),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'WORKSPACE_GONE', message: expect.stringContaining('"lost"') });
  expect(await standingOf(workspace)).toMatchObject({ isThere: false, unmerged: 1 });
  const again = await open({ branch: 'lost', reuse: true });
  expect(read(again.folder, 'b.txt')).toBe('kept\n');
  expect(await workspacesOf(project)).toHaveLength(1);
});

test('the end of a run commits everything but secrets and repositories, on a branch whatever was checked out', async () => {
  const { project, open } = await projectOfWorkspaces();
  const workspace = await open({ branch: 'work' });
  write(workspace.folder, { 'new.txt': 'new\n', '.env': 'KEY=1\n', 'inner/file': 'x' });
  git(join(workspace.folder, 'inner'), 'init', '--quiet');
  git(workspace.folder, 'checkout', '--quiet', '--detach');
  const end = await endWorkspace(workspace.folder, { title: 'the work', by: 'a-run' });
  expect(end).toMatchObject({ branch: 'work-2', uncommitted: ['.env', 'inner/'] });
  expect(
    git(
      project,
      'show',
      '--format=%s %(trailers:key=Sentinel-Run,valueonly,separator=)',
      '--name-only',
      'work-2',
    ).split('\n'),
  ).toEqual(['the work a-run', '', 'new.txt']);
  expect(git(workspace.folder, 'branch', '--show-current')).toBe('work-2');
});

test('hooks and editors of the project do not run', async () => {
  const { project, open } = await projectOfWorkspaces();
  for (const hook of ['pre-commit', 'post-checkout', 'commit-msg', 'post-merge', 'reference-transaction']) {
    write(project, { [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch ${project}/ran\nexit 1\n` });
    chmodSync(join(project, '.git/hooks', hook), 0o755);
  }
  const workspace = await open({ branch: 'work' });
  write(workspace.folder, { 'new.txt': 'new\n' });
  expect(await endWorkspace(workspace.folder, { title: 'the work', by: 'a-run' })).toMatchObject({ branch: 'work' });
  expect(existsSync(join(project, 'ran'))).toBe(false);
});

test('removing refuses what would be lost, keeps the branch where it is told, and loses all when forced', async () => {
  const { project, open, work } = await projectOfWorkspaces();
  const workspace = await open({ branch: 'work' });
  write(workspace.folder, { 'new.txt': 'new\n' });
  await expect(removeWorkspace(workspace, {})).rejects.toMatchObject({
    code: 'WORKSPACE_UNMERGED',
    message: expect.stringContaining('new.txt'),
  });
  await expect(removeWorkspace(workspace, { keepBranch: true })).rejects.toMatchObject({ code: 'WORKSPACE_UNMERGED' });
  work(workspace, { 'new.txt': 'new\n' });
  await expect(removeWorkspace(workspace, {})).rejects.toMatchObject({
    message: expect.stringContaining('1 commits of its branch "work"'),
  });
  const commit = git(project, 'rev-parse', 'work');
  expect(await removeWorkspace(workspace, { keepBranch: true })).toEqual({ commit, isBranchDeleted: false });
  expect([existsSync(workspace.folder), git(project, 'rev-parse', 'work')]).toEqual([false, commit]);
  const forced = await open({ branch: 'work', reuse: true });
  expect(await removeWorkspace(forced, { force: true })).toEqual({ commit, isBranchDeleted: true });
  expect(git(project, 'worktree', 'list').split('\n')).toHaveLength(1);
});

test('of two that take over the same workspace at once, one has it, and the other works in a fork of it', async () => {
  const { open, running } = await projectOfWorkspaces();
  const left = await open({ branch: 'raced' }, by);
  const isRunning = (of: string): Promise<boolean> => Promise.resolve(running.has(of));
  for (const handle of ['first', 'second', 'third']) running.add(handle);
  const roots = await Promise.all(
    ['first', 'second', 'third'].map((handle) =>
      takeOverWorkspace(left.root, left.handle, { handle, key: 'steps.1@1', isRunning }),
    ),
  );
  expect(roots).toContain(left.root);
  expect(new Set(roots).size).toBe(3);
});

test('who was given a workspace and died before it was written down has it all the same', async () => {
  const { project, open } = await projectOfWorkspaces();
  const left = await open({ branch: 'given' }, by);
  expect(await passOn(left, { handle: 'dead', key: 'steps.1@1' })).toMatchObject({ handle: 'dead', turn: 1 });
  await keepRecord(left);
  expect(await passOn(left, { handle: 'late', key: 'steps.1@1' })).toBeNull();
  expect(await workspacesOf(project)).toMatchObject([{ handle: 'dead', turn: 1 }]);
});

test('what runs left behind is committed and its folder goes a week after their end; nothing of it is lost', async () => {
  const { project, open } = await projectOfWorkspaces();
  const [left, recent, unknown] = [
    await open({ branch: 'left' }),
    await open({ branch: 'recent' }),
    await open({ branch: 'unknown' }),
  ];
  const child = await forkWorkspace(left.root, 'child', {
    handle: `${left.handle}/steps.1@1`,
    key: 'steps.1@1',
    isRunning: ended,
  });
  write(left.folder, { 'late.txt': 'late\n' });
  const now = Date.now();
  const days = new Map([
    [left.handle, KEPT_DAYS + 1],
    [recent.handle, KEPT_DAYS - 1],
  ]);
  const endedAt = (handle: string): Promise<number | null> => {
    const ago = days.get(handle);
    return Promise.resolve(ago === undefined ? null : now - ago * 86_400_000);
  };
  await sweepWorkspaces(async (handle) => (handle === child.handle ? endedAt(left.handle) : endedAt(handle)), now);
  expect([left, child, recent, unknown].map(({ folder }) => existsSync(folder))).toEqual([false, false, true, true]);
  expect(git(project, 'show', 'left:late.txt')).toBe('late');
  expect(git(project, 'branch', '--list', '--format=%(refname:short)').split('\n').toSorted()).toEqual([
    'left',
    'main',
    'recent',
    'unknown',
  ]);
});
