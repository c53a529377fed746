/** What steps changed is shown and taken back; what somebody else changed stays. */
import { chmodSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKPOINT_BOUNDS } from '../../../world/git/trees/bounds.ts';
import { changesOf } from '../../../operations/checkpoints/changes.ts';
import { StepCheckpoints, type WritingStep } from '../../../operations/checkpoints/step-checkpoints.ts';
import type { Undone, UndoRequest } from '../../../operations/checkpoints/undo.ts';
import { undoFromStep, undoRun } from '../../../operations/checkpoints/undo-run.ts';
import { useStore } from '../../store/harness/opened.ts';
import { temporaryFolder } from '../harness/step-context.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';

const opened = useStore();

interface Run extends WrittenProject {
  checkpoints: StepCheckpoints;
  /** A step of the run that does this. */
  step(key: string, act: () => unknown, over?: Partial<WritingStep>): Promise<void>;
  begin(key: string, over?: Partial<WritingStep>): Promise<boolean>;
  end(key: string): Promise<void>;
  undo(request?: Partial<UndoRequest>): Promise<Undone>;
  stat(key?: string): Promise<string[]>;
}

let runs = 0;

async function openRun(files: Readonly<Record<string, string | Buffer>> = {}): Promise<Run> {
  const project = await writtenProject(files);
  const rows = opened.store.checkpoints;
  const checkpoints = new StepCheckpoints(rows, project.home);
  runs += 1;
  const handle = `undone-${runs}`;
  const of = (key: string, over: Partial<WritingStep> = {}): WritingStep => ({
    handle,
    key,
    project: project.project,
    what: 'shell',
    attempt: 1,
    isBackground: false,
    ...over,
  });
  return {
    ...project,
    checkpoints,
    async step(key, act, over) {
      await checkpoints.begin(of(key, over));
      await act();
      await checkpoints.end(of(key, over));
    },
    begin: (key, over) => checkpoints.begin(of(key, over)),
    end: (key) => checkpoints.end(of(key)),
    undo: (request = {}) => undoRun(rows, { handle, ...request }),
    async stat(key) {
      const found = await changesOf(rows, { handle, key, patches: false });
      return found.flatMap((step) =>
        step.files.map(({ path, status, added, removed }) =>
          [step.key, status, path, added, removed].map(String).join(' '),
        ),
      );
    },
  };
}

test('a run is shown by step and taken back: created, changed and deleted files, modes and links', async () => {
  const run = await openRun({ 'keep.txt': 'k', 'a.txt': 'one\n', 'gone.txt': 'g', 'run.sh': '#!/bin/sh\n' });
  symlinkSync('a.txt', join(run.project, 'link'));
  chmodSync(join(run.project, 'run.sh'), 0o750);
  const before = run.everything();
  await run.step('steps.0@1', () => run.write({ 'a.txt': 'one\ntwo\n', 'new/deep/n.txt': 'n' }));
  await run.step('steps.1@1', () => {
    rmSync(join(run.project, 'gone.txt'));
    chmodSync(join(run.project, 'run.sh'), 0o640);
    rmSync(join(run.project, 'link'));
    symlinkSync('gone.txt', join(run.project, 'link'));
  });
  expect(await run.stat()).toEqual([
    'steps.0@1 changed a.txt 1 0',
    'steps.0@1 created new/deep/n.txt 1 0',
    'steps.1@1 deleted gone.txt 0 1',
    'steps.1@1 changed link 1 1',
    'steps.1@1 changed run.sh 0 0',
  ]);
  const [first] = await changesOf(opened.store.checkpoints, { handle: `undone-${runs}`, patches: true });
  expect(first?.patch).toContain('@@ -1 +1,2 @@\n one\n+two\n');
  const after = run.everything();
  expect(await run.undo({ dryRun: true })).toMatchObject({ done: false, undo: null, conflicts: [] });
  expect(run.everything()).toEqual(after);
  expect(await run.undo()).toMatchObject({ done: true, undo: 'undo-1', conflicts: [], left: [], gaps: [] });
  expect(run.everything()).toEqual(before);
  expect(statSync(join(run.project, 'run.sh')).mode & 0o777).toBe(0o750);
  // Nothing is left to take back; the undo itself is.
  expect(await run.undo()).toMatchObject({ files: [], undo: null });
  expect(await run.undo({ key: 'undo-1' })).toMatchObject({ undo: 'undo-2' });
  expect(run.everything()).toEqual(after);
  expect(await run.undo()).toMatchObject({ undo: 'undo-3' });
  expect(run.everything()).toEqual(before);
});

test('from a step on, or that step alone', async () => {
  const run = await openRun({ 'a.txt': '0', 'b.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1' }));
  await run.step('steps.1@1', () => run.write({ 'b.txt': '1' }));
  await run.step('steps.1@2', () => run.write({ 'b.txt': '2' }));
  await run.step('steps.10@1', () => run.write({ 'c.txt': '3' }));
  expect(await run.stat('steps.1')).toEqual(['steps.1@1 changed b.txt 1 1', 'steps.1@2 changed b.txt 1 1']);
  expect((await run.undo({ key: 'steps.0@1', only: true })).files).toEqual([{ path: 'a.txt', done: 'restored' }]);
  expect((await run.undo({ key: 'steps.1@1', only: true })).conflicts).toEqual([
    { path: 'b.txt', why: 'it was changed since' },
  ]);
  expect((await run.undo({ key: 'steps.1@2' })).files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c.txt']);
  expect(['a.txt', 'b.txt'].map((path) => run.read(path))).toEqual(['1', '1']);
  await expect(run.undo({ key: 'steps.7' })).rejects.toThrow('has no step "steps.7"');
});

test('what somebody else changed since, or between, is a conflict; by force it is kept and comes back', async () => {
  const run = await openRun({ 'a.txt': '0', 'b.txt': '0', 'd.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1', 'b.txt': '1', 'c.txt': '1', 'd.txt': '1' }));
  run.write({ 'b.txt': 'by hand' });
  await run.step('steps.1@1', () => run.write({ 'b.txt': '2' }));
  run.write({ 'a.txt': 'mine' });
  rmSync(join(run.project, 'd.txt'));
  const before = run.everything();
  const held = await run.undo();
  expect(held).toMatchObject({ done: false, undo: null });
  expect(held.conflicts).toEqual([
    { path: 'a.txt', why: 'it was changed since' },
    { path: 'b.txt', why: 'somebody else changed it before steps.1@1' },
    { path: 'd.txt', why: 'it was deleted since' },
  ]);
  expect(run.everything()).toEqual(before);
  expect(await run.undo({ force: true })).toMatchObject({ done: true, undo: 'undo-1', left: [] });
  expect(run.everything()).toEqual(['a.txt 0', 'b.txt 0', 'd.txt 0']);
  await run.undo({ key: 'undo-1' });
  expect(run.everything()).toEqual(before);
});

test('the same change by somebody else is none', async () => {
  const run = await openRun({ 'a.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1', 'b.txt': '1' }));
  run.write({ 'a.txt': '0' });
  rmSync(join(run.project, 'b.txt'));
  expect(await run.undo()).toMatchObject({ done: true, files: [], conflicts: [], undo: null });
});

test('steps that overlap are taken back together', async () => {
  const run = await openRun({ 'a.txt': '0', 'b.txt': '0' });
  await run.begin('steps.0.branches.0.0@1');
  run.write({ 'a.txt': '1' });
  await run.begin('steps.0.branches.1.0@1');
  run.write({ 'b.txt': '1', 'a.txt': '2' });
  await run.end('steps.0.branches.0.0@1');
  run.write({ 'b.txt': '2' });
  await run.end('steps.0.branches.1.0@1');
  expect(await run.undo()).toMatchObject({ conflicts: [], done: true });
  expect(run.everything()).toEqual(['a.txt 0', 'b.txt 0']);
});

test('an attempt that takes over keeps the state before the first one', async () => {
  const run = await openRun({ 'a.txt': '0' });
  await run.begin('steps.0@1');
  run.write({ 'a.txt': 'by half', 'left.txt': 'l' });
  const other = new StepCheckpoints(opened.store.checkpoints, run.home);
  const step = { handle: `undone-${runs}`, key: 'steps.0@1', project: run.project };
  await other.begin({ ...step, what: 'shell', attempt: 2, isBackground: false });
  run.write({ 'a.txt': 'whole' });
  await other.end(step);
  expect(await run.undo()).toMatchObject({ done: true, conflicts: [] });
  expect(run.everything()).toEqual(['a.txt 0']);
});

test('a step whose end nobody saw, and what a background process changed, is asked about', async () => {
  const run = await openRun({ 'a.txt': '0', 'b.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1' }), { isBackground: true });
  await run.begin('steps.1@1');
  run.write({ 'b.txt': '1' });
  const { conflicts, done } = await run.undo();
  expect(done).toBe(false);
  expect(conflicts).toEqual([
    { path: 'a.txt', why: expect.stringContaining('while steps.0@1 ran in the background') as string },
    { path: 'b.txt', why: expect.stringContaining('nobody saw steps.1@1 end') as string },
  ]);
  expect(await run.undo({ force: true })).toMatchObject({ done: true });
  expect(run.everything()).toEqual(['a.txt 0', 'b.txt 0']);
});

test('no undo goes through a link out of the project, and none writes .git or a home', async () => {
  const run = await openRun({ 'src/a.txt': '0' });
  const outside = await temporaryFolder();
  writeFileSync(join(outside, 'a.txt'), '1');
  await run.step('steps.0@1', () => run.write({ 'src/a.txt': '1', 'src/b.txt': '1' }));
  rmSync(join(run.project, 'src'), { recursive: true });
  symlinkSync(outside, join(run.project, 'src'));
  expect((await run.undo()).conflicts).toEqual([{ path: 'src/a.txt', why: 'it was deleted since' }]);
  const forced = await run.undo({ force: true });
  expect(forced.left).toEqual([{ path: 'src/a.txt', why: expect.stringMatching(/ENOTDIR|ELOOP/) as string }]);
  expect(run.everything(outside)).toEqual(['a.txt 1']);
  expect(readlinkSync(join(run.project, 'src'))).toBe(outside);
});

test('a link that a run put in the place of a folder is taken back with what was in it', async () => {
  const run = await openRun({ 'src/a.txt': '0' });
  const outside = await temporaryFolder();
  await run.step('steps.0@1', () => {
    rmSync(join(run.project, 'src'), { recursive: true });
    symlinkSync(outside, join(run.project, 'src'));
  });
  expect(await run.undo()).toMatchObject({ done: true, left: [] });
  expect(run.everything()).toEqual(['src/a.txt 0']);
  expect(run.everything(outside)).toEqual([]);
});

test('a file in the place of a folder, and the other way round', async () => {
  const run = await openRun({ a: '0', 'b/x': '0' });
  await run.step('steps.0@1', () => {
    rmSync(join(run.project, 'a'));
    rmSync(join(run.project, 'b'), { recursive: true });
    run.write({ 'a/y': '1', b: '1' });
  });
  expect(await run.undo()).toMatchObject({ done: true, left: [] });
  expect(run.everything()).toEqual(['a 0', 'b/x 0']);
});

test('what was too large to keep is named and left', async () => {
  const run = await openRun({ small: '0', large: Buffer.alloc(CHECKPOINT_BOUNDS.fileBytesMax + 1) });
  await run.step('steps.0@1', () => {
    run.write({ large: 'cut', other: Buffer.alloc(CHECKPOINT_BOUNDS.fileBytesMax + 1), 'a.txt': '1' });
  });
  const undone = await run.undo();
  expect(undone.files).toEqual([{ path: 'a.txt', done: 'removed' }]);
  expect(undone.left.map(({ path }) => path)).toEqual(['large', 'other']);
  expect(run.read('large')).toBe('cut');
});

test('a file that .gitignore hid before is not taken for the run’s', async () => {
  const run = await openRun({ '.gitignore': 'secret.txt\n', 'secret.txt': 's' });
  await run.step('steps.0@1', () => run.write({ '.gitignore': '', 'new.txt': 'n' }));
  expect((await run.undo()).conflicts.map(({ path }) => path)).toEqual(['new.txt', 'secret.txt']);
  expect(run.read('secret.txt')).toBe('s');
});

test('without a state before the step runs all the same, and it is said', async () => {
  const run = await openRun({ 'a.txt': '0' });
  mkdirSync(join(run.home, 'checkpoints'), { recursive: true });
  rmSync(join(run.home, 'checkpoints'), { recursive: true });
  writeFileSync(join(run.home, 'checkpoints'), 'no folder');
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1' }));
  const [shown] = await changesOf(opened.store.checkpoints, { handle: `undone-${runs}`, patches: false });
  expect(shown).toMatchObject({ state: 'skipped', why: expect.stringContaining('checkpoints') as string });
  expect(await run.undo()).toMatchObject({ files: [], gaps: [{ key: 'steps.0@1' }] });
});

test('without the states on this host it is refused', async () => {
  const run = await openRun({ 'a.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1' }));
  rmSync(join(run.home, 'checkpoints'), { recursive: true });
  await expect(run.undo()).rejects.toThrow('are not in');
});

test('states that git cannot read are refused, and a worker whose folder was taken away begins anew', async () => {
  const run = await openRun({ 'a.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1' }));
  const [place = ''] = readdirSync(join(run.home, 'checkpoints'));
  const folder = join(run.home, 'checkpoints', place);
  for (const name of readdirSync(join(folder, 'objects'))) rmSync(join(folder, 'objects', name), { recursive: true });
  await expect(run.undo()).rejects.toThrow('cannot be used');
  rmSync(folder, { recursive: true });
  await run.step('steps.1@1', () => run.write({ 'a.txt': '2' }));
  await run.step('steps.2@1', () => run.write({ 'a.txt': '3' }));
  expect((await run.undo({ key: 'steps.2@1' })).files).toEqual([{ path: 'a.txt', done: 'restored' }]);
  expect(run.read('a.txt')).toBe('2');
});

test('an index that cannot be read is made anew', async () => {
  const run = await openRun({ 'a.txt': '0', 'b.txt': '0' });
  await run.step('steps.0@1', () => run.write({ 'a.txt': '1' }));
  const trees = await run.checkpoints.treesOf(run.project);
  writeFileSync(trees.git.index, 'no index');
  await run.step('steps.1@1', () => run.write({ 'b.txt': '1' }));
  expect(await run.stat()).toEqual(['steps.0@1 changed a.txt 1 1', 'steps.1@1 changed b.txt 1 1']);
});

test('a sandboxed run does not put back what the command line runs later', async () => {
  const run = await openRun({ 'sentinels/nightly.json': '{}' });
  await run.step('steps.0@1', () => run.write({ 'sentinels/nightly.json': '{"steps": []}', 'a.txt': '1' }));
  await run.begin('steps.1@1');
  const own = { handle: `undone-${runs}`, key: 'steps.1@1' };
  const trees = await run.checkpoints.treesOf(run.project);
  const request = { handle: own.handle, access: { mode: 'sandboxed' as const } };
  const undone = await undoFromStep(opened.store.checkpoints, trees, own, request);
  expect(undone.files).toEqual([{ path: 'a.txt', done: 'removed' }]);
  expect(undone.left).toEqual([
    { path: 'sentinels/nightly.json', why: expect.stringContaining('sandboxed') as string },
  ]);
});

test('a model takes back nothing that it does not write, but what the definition names', async () => {
  const run = await openRun({ '.env': 'KEY=one\n', 'a.txt': 'a\n', 'sentinels/nightly.json': '{}' });
  await run.step('steps.0@1', () => {
    run.write({ '.env': 'KEY=two\n', 'a.txt': 'b\n', 'sentinels/nightly.json': '[]' });
  });
  const trees = await run.checkpoints.treesOf(run.project);
  const undone = async (key: string, files: string[] = []): Promise<Undone> => {
    await run.begin(key);
    const own = { handle: `undone-${runs}`, key };
    const request = { handle: own.handle, access: { byModel: true, writes: true, files } };
    return undoFromStep(opened.store.checkpoints, trees, own, request);
  };
  const first = await undone('steps.1@1');
  expect(first.files.map(({ path }) => path)).toEqual(['a.txt']);
  expect(first.left.map(({ path }) => path)).toEqual(['.env', 'sentinels/nightly.json']);
  await run.end('steps.1@1');
  expect((await undone('steps.2@1', ['.env'])).files.map(({ path }) => path)).toContain('.env');
});
