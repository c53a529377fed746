/** Two runs in one project: what is taken back, and shown, of the one is never what the other did. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changesOf } from '../../../operations/checkpoints/changes.ts';
import { StepCheckpoints, type WritingStep } from '../../../operations/checkpoints/step-checkpoints.ts';
import type { Undone, UndoRequest } from '../../../operations/checkpoints/undo.ts';
import { undoFromStep, undoRun } from '../../../operations/checkpoints/undo-run.ts';
import { useStore } from '../../store/harness/opened.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';

const opened = useStore();

interface Run {
  handle: string;
  begin(key: string, over?: Partial<WritingStep>): Promise<void>;
  end(key: string): Promise<void>;
  step(key: string, act: () => unknown, over?: Partial<WritingStep>): Promise<void>;
  undo(request?: Partial<UndoRequest>): Promise<Undone>;
  /** Files that it is shown to have changed, with those who may have done it instead. */
  shown(): Promise<string[]>;
  patches(): Promise<string>;
}

interface Shared extends WrittenProject {
  checkpoints: StepCheckpoints;
  run(name: string): Run;
}

let projects = 0;

async function openShared(files: Readonly<Record<string, string>>): Promise<Shared> {
  const project = await writtenProject(files);
  const rows = opened.store.checkpoints;
  const checkpoints = new StepCheckpoints(rows, project.home);
  projects += 1;
  const at = projects;
  return {
    ...project,
    checkpoints,
    run(name) {
      const handle = `shared-${at}-${name}`;
      const of = (key: string, over: Partial<WritingStep> = {}): WritingStep => ({
        handle,
        key,
        project: project.project,
        what: 'shell',
        attempt: 1,
        isBackground: false,
        ...over,
      });
      const run: Run = {
        handle,
        begin: async (key, over) => void (await checkpoints.begin(of(key, over))),
        end: (key) => checkpoints.end(of(key)),
        async step(key, act, over) {
          await run.begin(key, over);
          await act();
          await run.end(key);
        },
        undo: (request = {}) => undoRun(rows, { handle, ...request }),
        async shown() {
          const found = await changesOf(rows, { handle, patches: false });
          return found.flatMap(({ key, files: changed }) =>
            changed.map(({ path, others }) =>
              [key, path, ...others.map((other) => other.replace(/shared-\d+-/, ''))].join(' '),
            ),
          );
        },
        async patches() {
          return (await changesOf(rows, { handle, patches: true })).map(({ patch }) => patch ?? '').join('');
        },
      };
      return run;
    },
  };
}

const conflictsOf = ({ conflicts }: Undone): string[] =>
  conflicts.map(({ path, why }) => `${path}: ${why.replaceAll(/shared-\d+-/g, '')}`);

const either = (path: string, ran: string, beside: string): string =>
  `${path}: it changed while ${ran} ran beside ${beside}, so it may be the work of either`;

test('while one sleeps in a shell step, the other writes and ends: its files are a conflict, and stay', async () => {
  const project = await openShared({ 'old.txt': '0', 'gone.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.begin('steps.0@1');
  project.write({ 'mine.txt': 'a' });
  await b.step('steps.0@1', () => {
    project.write({ 'old.txt': 'b', 'new.txt': 'b' });
    rmSync(join(project.project, 'gone.txt'));
  });
  await a.end('steps.0@1');
  const before = project.everything();
  const doubts = ['gone.txt', 'new.txt', 'old.txt'];
  expect(conflictsOf(await a.undo())).toEqual(doubts.map((path) => either(path, 'steps.0@1 of b', 'steps.0@1')));
  expect(conflictsOf(await b.undo())).toEqual(doubts.map((path) => either(path, 'steps.0@1 of a', 'steps.0@1')));
  expect(project.everything()).toEqual(before);
  expect(await a.shown()).toEqual([
    ...doubts.slice(0, 1).map((path) => `steps.0@1 ${path} steps.0@1 of b`),
    'steps.0@1 mine.txt',
    ...doubts.slice(1).map((path) => `steps.0@1 ${path} steps.0@1 of b`),
  ]);
  const sure = await a.undo({ sure: true });
  expect(sure.files).toEqual([{ path: 'mine.txt', done: 'removed' }]);
  expect(sure.left.map(({ path }) => path)).toEqual(doubts);
  expect(project.everything()).toEqual(['new.txt b', 'old.txt b']);
  expect(await b.undo({ force: true })).toMatchObject({ done: true });
  expect(project.everything()).toEqual(['gone.txt 0', 'old.txt 0']);
});

test('the one that writes begins before and ends after the one that sleeps', async () => {
  const project = await openShared({ 'a.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await b.begin('steps.0@1');
  project.write({ 'early.txt': 'b' });
  await a.begin('steps.0@1');
  project.write({ 'a.txt': 'b' });
  await a.end('steps.0@1');
  project.write({ 'late.txt': 'b' });
  await b.end('steps.0@1');
  expect(conflictsOf(await a.undo())).toEqual([either('a.txt', 'steps.0@1 of b', 'steps.0@1')]);
  const sure = await b.undo({ sure: true });
  expect(sure.files.map(({ path }) => path)).toEqual(['early.txt', 'late.txt']);
  expect(project.everything()).toEqual(['a.txt b']);
});

test('they overlap by half, and a file that both wrote is a conflict of both', async () => {
  const project = await openShared({ 'both.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.begin('steps.0@1');
  project.write({ 'both.txt': 'a', 'a.txt': 'a' });
  await b.begin('steps.0@1');
  await a.end('steps.0@1');
  project.write({ 'both.txt': 'ab', 'b.txt': 'b' });
  await b.end('steps.0@1');
  expect(conflictsOf(await a.undo())).toEqual(['both.txt: it was changed since']);
  expect((await b.undo()).files.map(({ path }) => path)).toEqual(['b.txt', 'both.txt']);
  expect(await a.undo()).toMatchObject({ done: true, conflicts: [] });
  expect(project.everything()).toEqual(['both.txt 0']);
});

test("a command that writes named files writes no other: its record says whose they are, a person's are neither's", async () => {
  const project = await openShared({ 'notes.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.begin('steps.0@1');
  project.write({ 'a.txt': 'a' });
  await b.step('steps.0@1', () => project.write({ 'named.txt': 'b', 'notes.txt': 'by hand' }), {
    what: 'code/write',
    paths: ['named.txt'],
  });
  await a.end('steps.0@1');
  expect(await b.shown()).toEqual(['steps.0@1 named.txt']);
  expect(await b.patches()).not.toContain('by hand');
  // The shell step may have written everything but what the other one names.
  expect(await a.shown()).toEqual(['steps.0@1 a.txt', 'steps.0@1 notes.txt']);
  expect(await a.patches()).not.toContain('named.txt');
  expect((await a.undo({ dryRun: true })).files.map(({ path }) => path)).toEqual(['a.txt', 'notes.txt']);
  expect((await b.undo()).files).toEqual([{ path: 'named.txt', done: 'removed' }]);
  expect(await a.undo()).toMatchObject({ conflicts: [], done: true });
  expect(project.everything()).toEqual(['notes.txt 0']);
});

test('a shell that changed what the other wrote by name is a conflict', async () => {
  const project = await openShared({ 'f.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.begin('steps.0@1');
  project.write({ 'f.txt': '1' });
  await b.step('steps.0@1', () => project.write({ 'f.txt': '2' }), { what: 'code/write', paths: ['f.txt'] });
  project.write({ 'f.txt': '3' });
  await a.end('steps.0@1');
  expect(conflictsOf(await a.undo())).toEqual(['f.txt: somebody else changed it while steps.0@1 ran']);
  expect(conflictsOf(await b.undo())).toEqual(['f.txt: it was changed since']);
});

test('two commands that named the same file at the same time are a conflict of both', async () => {
  const project = await openShared({ 'f.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  const named = { what: 'code/write', paths: ['f.txt'] };
  await a.begin('steps.0@1', named);
  await b.begin('steps.0@1', named);
  project.write({ 'f.txt': '1' });
  await a.end('steps.0@1');
  await b.end('steps.0@1');
  expect(conflictsOf(await a.undo())).toEqual([either('f.txt', 'steps.0@1 of b', 'steps.0@1')]);
  expect(conflictsOf(await b.undo())).toEqual([either('f.txt', 'steps.0@1 of a', 'steps.0@1')]);
});

test('one is taken back while the other still runs, or was lost with its worker', async () => {
  const project = await openShared({ 'a.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.begin('steps.0@1');
  await b.step('steps.0@1', () => project.write({ 'b.txt': 'b' }));
  await b.step('steps.1@1', () => project.write({ 'w.txt': 'w' }), { what: 'code/write', paths: ['w.txt'] });
  expect(conflictsOf(await b.undo())).toEqual([either('b.txt', 'steps.0@1 of a', 'steps.0@1')]);
  expect((await b.undo({ key: 'steps.1' })).files).toEqual([{ path: 'w.txt', done: 'removed' }]);
  // Of the step that nobody saw end, what the other names is not even asked about.
  await b.step('steps.2@1', () => project.write({ 'x.txt': 'x' }), { what: 'code/write', paths: ['x.txt'] });
  expect((await a.undo()).conflicts.map(({ path }) => path)).toEqual(['b.txt']);
});

test('an attempt that takes over has the time of the first as well', async () => {
  const project = await openShared({ 'a.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.begin('steps.0@1');
  await b.step('steps.0@1', () => project.write({ 'b.txt': 'b' }));
  await a.begin('steps.0@1', { attempt: 2 });
  project.write({ 'a.txt': 'a' });
  await a.end('steps.0@1');
  expect(conflictsOf(await a.undo())).toEqual([either('b.txt', 'steps.0@1 of b', 'steps.0@1')]);
  expect((await a.undo({ sure: true })).files).toEqual([{ path: 'a.txt', done: 'restored' }]);
});

test('runs nested in one, and its items side by side, are one run; a process of another is not', async () => {
  const project = await openShared({ 'a.txt': '0' });
  const [a, inner, b] = [project.run('a'), project.run('a/steps.1@1'), project.run('b')];
  await a.begin('steps.0.branches.0.0@1');
  await inner.step('steps.0@1', () => project.write({ 'inner.txt': 'i' }));
  project.write({ 'a.txt': '1' });
  await a.end('steps.0.branches.0.0@1');
  expect(await a.shown()).toEqual([
    'steps.0.branches.0.0@1 a.txt',
    'steps.0.branches.0.0@1 inner.txt',
    'steps.1@1/steps.0@1 inner.txt',
  ]);
  // One of the two by itself: the other may have done it.
  expect(conflictsOf(await inner.undo())).toEqual([either('inner.txt', 'steps.0.branches.0.0@1 of a', 'steps.0@1')]);
  expect(conflictsOf(await a.undo({ key: 'steps.0', only: true }))).toEqual([
    either('inner.txt', 'steps.1@1/steps.0@1', 'steps.0.branches.0.0@1'),
  ]);
  expect(await a.undo()).toMatchObject({ conflicts: [], done: true });
  expect(project.everything()).toEqual(['a.txt 0']);
  await b.begin('steps.0@1', { isBackground: true });
  await a.step('steps.2@1', () => project.write({ 'served.txt': 's' }));
  expect(conflictsOf(await a.undo({ key: 'steps.2' }))).toEqual([either('served.txt', 'steps.0@1 of b', 'steps.2@1')]);
});

test('a background process of the run itself is no other', async () => {
  const project = await openShared({ 'a.txt': '0' });
  const a = project.run('a');
  await a.begin('steps.0@1', { isBackground: true });
  await a.step('steps.1@1', () => project.write({ 'a.txt': '1' }));
  expect(await a.undo({ key: 'steps.1', only: true })).toMatchObject({ conflicts: [], done: true });
  expect(project.everything()).toEqual(['a.txt 0']);
});

test("the undo of another, and a step's own, are told apart as well", async () => {
  const project = await openShared({ 'a.txt': '0', 'b.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await b.step('steps.0@1', () => project.write({ 'b.txt': '1' }));
  await a.begin('steps.0@1');
  project.write({ 'a.txt': '1' });
  expect((await b.undo()).files).toEqual([{ path: 'b.txt', done: 'restored' }]);
  await a.end('steps.0@1');
  expect(await a.shown()).toEqual(['steps.0@1 a.txt']);
  const trees = await project.checkpoints.treesOf(project.project);
  const own = { handle: a.handle, key: 'steps.1@1' };
  await a.begin('steps.1@1', { what: 'code/undo' });
  const undone = await undoFromStep(opened.store.checkpoints, trees, own, { handle: a.handle });
  await a.end('steps.1@1');
  expect(undone).toMatchObject({ conflicts: [], files: [{ path: 'a.txt', done: 'restored' }] });
  expect(project.everything()).toEqual(['a.txt 0', 'b.txt 0']);
});

test('one after the other: nothing is shared, and each is taken back alone', async () => {
  const project = await openShared({ 'a.txt': '0' });
  const [a, b] = [project.run('a'), project.run('b')];
  await a.step('steps.0@1', () => project.write({ 'a.txt': 'a' }));
  await b.step('steps.0@1', () => project.write({ 'b.txt': 'b' }));
  await a.step('steps.1@1', () => project.write({ 'c.txt': 'c' }));
  expect((await a.undo()).files.map(({ path }) => path)).toEqual(['a.txt', 'c.txt']);
  expect((await b.undo()).files.map(({ path }) => path)).toEqual(['b.txt']);
});
