/** What a run moved in the repository is moved back, where nobody moved it since. */
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Undone } from '../../../operations/checkpoints/undo.ts';
import { openRepositoryRun, type RunInRepository } from '../harness/repository-run.ts';
import { temporaryFolder } from '../harness/step-context.ts';

/** All that a person sees of it, and HEAD, refs and stashes one by one. */
const seen = ({ git }: RunInRepository): string[] =>
  [
    ['status', '--porcelain=v2', '--branch'],
    ['log', '--oneline', '--all', '--exclude=refs/stash', '--graph'],
    ['branch', '-vv'],
    ['for-each-ref'],
    ['stash', 'list', '--format=%H %gs'],
    ['ls-files', '-s'],
  ].map((args) => git(...args));

const rows = ({ refs }: Undone): string[] =>
  refs.map(({ name, done, why }) => `${name} ${done ? 'done' : 'left'}${why === null ? '' : `: ${why}`}`);

const openWorked = async (): Promise<RunInRepository> => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' });
  run.write({ 'b.txt': 'stashed\n' });
  run.git('stash', '-q');
  run.git('branch', 'old');
  run.git('tag', 'kept');
  run.write({ 'b.txt': 'staged\n', 'c.txt': 'only here\n', 'new.txt': 'new\n' });
  run.git('add', 'b.txt', 'new.txt');
  return run;
};

/** A branch, commits, a merge, tags, stashes and deletions. */
const work = async (run: RunInRepository): Promise<void> => {
  await run.step('steps.0@1', () => {
    run.git('checkout', '-q', '-b', 'fix/one');
    run.write({ 'a.txt': 'two\n' });
    run.git('commit', '-qam', 'second');
  });
  await run.step('steps.1@1', () => {
    run.git('checkout', '-q', 'main');
    run.git('merge', '-q', '--no-ff', '-m', 'merged', 'fix/one');
    run.git('tag', '-a', '-m', 'annotated', 'v1');
    run.git('tag', '-d', 'kept');
    run.git('branch', '-qD', 'old');
    run.git('checkout', '-q', 'fix/one');
    run.write({ 'a.txt': 'three\n' });
    run.git('stash', '-q');
    run.write({ 'a.txt': 'four\n' });
    run.git('stash', '-q');
    run.git('rm', '-q', 'b.txt');
  });
};

test('branch, commit, merge, tags, stashes and the index are as before, and by the undo of the undo as after', async () => {
  const run = await openWorked();
  const before = seen(run);
  await work(run);
  const after = seen(run);
  const without = await run.undo({ dryRun: true });
  expect(without.refs.map(({ name }) => name)).toEqual([
    'HEAD',
    'index',
    'refs/heads/fix/one',
    'refs/heads/main',
    'refs/heads/old',
    'refs/stash',
    'refs/tags/kept',
    'refs/tags/v1',
  ]);
  expect(seen(run)).toEqual(after);
  const undone = await run.undo({ refs: true });
  expect(rows(undone).filter((row) => !row.endsWith(' done'))).toEqual([]);
  expect(undone).toMatchObject({ done: true, conflicts: [], left: [], undo: 'undo-1' });
  expect(seen(run)).toEqual(before);
  expect(run.git('fsck', '--no-dangling')).toBe('');
  // Nothing is left; the undo is.
  expect(await run.undo({ refs: true })).toMatchObject({ files: [], refs: [], undo: null });
  expect(await run.undo({ key: 'undo-1', refs: true })).toMatchObject({ done: true, conflicts: [] });
  expect(seen(run)).toEqual(after);
});

test('files alone are put back without it, and refs are named', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  await run.step('steps.0@1', () => {
    run.git('checkout', '-q', '-b', 'fix');
    run.git('commit', '-q', '--allow-empty', '-m', 'second');
  });
  const after = seen(run);
  const undone = await run.undo();
  expect(undone).toMatchObject({ done: true, files: [], conflicts: [], left: [], undo: null });
  expect(undone.refs).toEqual([
    { name: 'HEAD', before: 'refs/heads/main', after: 'refs/heads/fix', done: false, why: null },
    { name: 'refs/heads/fix', before: null, after: run.commit('fix'), done: false, why: null },
  ]);
  expect(seen(run)).toEqual(after);
});

test('what somebody moved since is a conflict: nothing is done, the rest with sure, all by force', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const first = run.commit('HEAD');
  await run.step('steps.0@1', () => {
    run.write({ 'a.txt': 'two\n' });
    run.git('commit', '-qam', 'second');
    run.git('tag', 'v1');
    run.git('tag', 'v2');
  });
  run.git('commit', '-q', '--allow-empty', '-m', 'by hand');
  run.git('tag', '-d', 'v2');
  const byHand = run.commit('HEAD');
  const held = await run.undo({ refs: true });
  expect(held.conflicts).toEqual([{ path: 'refs/heads/main', why: 'it was moved since' }]);
  expect(held).toMatchObject({ done: false, undo: null });
  expect([run.commit('HEAD'), run.read('a.txt')]).toEqual([byHand, 'two\n']);
  expect(rows(await run.undo({ refs: true, sure: true }))).toEqual([
    'index done',
    'refs/heads/main left: it was moved since',
    'refs/tags/v1 done',
  ]);
  expect([run.commit('HEAD'), run.read('a.txt')]).toEqual([byHand, 'one\n']);
  expect(await run.undo({ refs: true, force: true })).toMatchObject({ done: true, undo: 'undo-2' });
  expect(run.commit('HEAD')).toBe(first);
  expect(await run.undo({ key: 'undo-2', refs: true })).toMatchObject({ done: true });
  expect(run.commit('HEAD')).toBe(byHand);
});

test('what another run may have moved is a conflict of both', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const other = run.beside();
  await run.begin('steps.0@1');
  await other.step('steps.0@1', () => run.git('tag', 'v1'));
  await run.end('steps.0@1');
  for (const one of [run, other])
    expect((await one.undo({ refs: true })).conflicts).toEqual([
      { path: 'refs/tags/v1', why: expect.stringContaining('may be the work of either') as string },
    ]);
});

test('a detached HEAD and packed refs, back and forth, and a branch in the place of a folder of branches', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  run.git('branch', 'x/y');
  run.git('pack-refs', '--all');
  const before = seen(run);
  await run.step('steps.0@1', () => {
    run.git('checkout', '-q', '--detach');
    run.git('commit', '-q', '--allow-empty', '-m', 'second');
    run.git('branch', '-qD', 'x/y');
    run.git('branch', 'x');
    run.git('branch', 'ünï-\u202E');
    run.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    run.git('pack-refs', '--all');
  });
  const after = seen(run);
  expect(rows(await run.undo({ refs: true })).filter((row) => !row.endsWith(' done'))).toEqual([]);
  expect(seen(run)).toEqual(before);
  await run.undo({ key: 'undo-1', refs: true });
  expect(seen(run)).toEqual(after);
});

test('other work trees and what they have checked out are left, with what to say to git', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const place = join(await temporaryFolder(), 'beside');
  await run.step('steps.0@1', () => run.git('worktree', 'add', '-q', '-b', 'other', place));
  expect(rows(await run.undo({ refs: true }))).toEqual([
    `refs/heads/other left: it is checked out in ${place}: "git -C ${place} reset --keep COMMIT" does it`,
    `worktrees/beside left: "git worktree remove ${place}" does it`,
  ]);
  const linked = await openRepositoryRun({}, place);
  const before = seen(linked);
  await linked.step('steps.0@1', () => {
    writeFileSync(join(place, 'a.txt'), 'two\n');
    linked.git('checkout', '-q', '-b', 'third');
    linked.git('commit', '-qam', 'second');
    run.git('commit', '-q', '--allow-empty', '-m', 'in the other');
  });
  expect(rows(await linked.undo({ refs: true })).map((row) => row.replace(/ (?:in|-C) .*$/, ''))).toEqual([
    'HEAD done',
    'index done',
    'refs/heads/main left: it is checked out',
    'refs/heads/third done',
  ]);
  expect(seen(linked)[0]).toBe(before[0]);
});

test('a project that is a folder of a repository', async () => {
  const around = await openRepositoryRun({ 'part/a.txt': 'one\n' });
  const run = await openRepositoryRun({}, join(around.project, 'part'));
  const before = seen(around);
  await run.step('steps.0@1', () => {
    writeFileSync(join(run.project, 'a.txt'), 'two\n');
    run.git('commit', '-qam', 'second');
  });
  expect(await run.undo({ refs: true })).toMatchObject({ done: true, left: [], undo: 'undo-1' });
  expect(seen(around)).toEqual(before);
});

test('another repository in its place is never written, and no link is followed to it', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const other = await openRepositoryRun({ 'a.txt': 'one\n' });
  await run.step('steps.0@1', () => run.git('tag', 'v1'));
  other.git('tag', 'v1');
  const untouched = other.everything();
  const place = join(run.project, '.git');
  renameSync(place, join(await temporaryFolder(), 'aside'));
  symlinkSync(join(other.project, '.git'), place);
  expect(rows(await run.undo({ refs: true, force: true }))).toEqual([
    `refs/tags/v1 left: what moves in the repository is not recorded: ${place} is a link`,
  ]);
  rmSync(place);
  writeFileSync(place, `gitdir: ${join(other.project, '.git')}\n`);
  expect(rows(await run.undo({ refs: true, force: true }))[0]).toContain('does not know this work tree');
  expect(other.everything()).toEqual(untouched);
  rmSync(place);
  expect(rows(await run.undo({ refs: true, force: true }))).toEqual([
    'refs/tags/v1 left: the project has no repository any more',
  ]);
});

test('nothing of the repository starts, a repository that the run made stays, and so does what is checked out', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const started = join(await temporaryFolder(), 'started');
  await run.step('steps.0@1', () => {
    run.git('checkout', '-q', '-b', 'fix');
    run.write({ 'a.txt': 'two\n', '.gitattributes': '* filter=evil\n' });
    run.git('add', '.');
    for (const hook of ['reference-transaction', 'post-index-change', 'post-checkout'])
      writeFileSync(join(run.project, '.git/hooks', hook), `#!/bin/sh\ntouch ${started}\n`, { mode: 0o755 });
    run.git('config', 'filter.evil.clean', `touch ${started}; cat`);
    run.git('config', 'core.fsmonitor', `touch ${started}; false`);
  });
  rmSync(started, { force: true });
  expect(rows(await run.undo({ refs: true })).filter((row) => !row.endsWith(' done'))).toEqual([]);
  expect(existsSync(started)).toBe(false);
  const made = await openRepositoryRun({ 'a.txt': 'one\n' });
  rmSync(join(made.project, '.git'), { recursive: true });
  await made.step('steps.0@1', () => made.git('init', '-q'));
  expect(rows(await made.undo({ refs: true }))).toEqual([
    'HEAD left: the run made or removed the repository itself, which no undo does',
  ]);
  const on = await openRepositoryRun({ 'a.txt': 'one\n' });
  await on.step('steps.0@1', () => on.git('branch', 'fix'));
  on.git('checkout', '-q', 'fix');
  expect(rows(await on.undo({ refs: true }))).toEqual(['refs/heads/fix left: it is the branch that stays checked out']);
});
