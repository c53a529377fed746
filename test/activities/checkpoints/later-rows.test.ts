/** Steps whose rows go out with commits of their caller. */
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { StepCheckpoints } from '../../../operations/checkpoints/step-checkpoints.ts';
import { undoRun } from '../../../operations/checkpoints/undo-run.ts';
import { useStore } from '../../store/harness/opened.ts';
import { writtenProject } from '../harness/written-project.ts';

const opened = useStore();

test('a run whose steps share commits is taken back as any other', async () => {
  const { store } = opened;
  const { project, home, write, everything } = await writtenProject({ 'a.txt': '0', 'gone.txt': 'g' });
  const before = everything();
  const checkpoints = new StepCheckpoints(store.checkpoints, home);
  const step = (at: number) => ({
    handle: 'later-steps',
    key: `steps.${at}@1`,
    project,
    what: 'shell',
    attempt: 1,
    isBackground: false,
  });
  const acts = [() => write({ 'a.txt': '1' }), () => rmSync(join(project, 'gone.txt')), () => write({ 'b.txt': '2' })];
  for (const [at, act] of acts.entries()) {
    const session = store.session();
    if (at > 0) await checkpoints.end(step(at - 1), session);
    expect(await checkpoints.begin(step(at), session)).toBe(true);
    await session.end();
    act();
  }
  const last = store.session();
  await checkpoints.end(step(2), last);
  await last.end();
  expect(await undoRun(store.checkpoints, { handle: 'later-steps' })).toMatchObject({ done: true, conflicts: [] });
  expect(everything()).toEqual(before);
});

test('an attempt that takes over keeps the state before the first one', async () => {
  const { store } = opened;
  const { project, home, write, everything } = await writtenProject({ 'a.txt': '0' });
  const checkpoints = new StepCheckpoints(store.checkpoints, home);
  const step = { handle: 'later-again', key: 'steps.0@1', project, what: 'shell', attempt: 1, isBackground: false };
  for (const attempt of [1, 2]) {
    const session = store.session();
    expect(await checkpoints.begin({ ...step, attempt }, session)).toBe(true);
    await session.end();
    write({ 'a.txt': String(attempt) });
  }
  await checkpoints.end(step);
  expect(await undoRun(store.checkpoints, { handle: 'later-again' })).toMatchObject({ done: true });
  expect(everything()).toEqual(['a.txt 0']);
});

test('a run whose folders are all gone is not taken back, and says so', async () => {
  const { store } = opened;
  const projects = [await writtenProject({ 'a.txt': '0' }), await writtenProject({ 'a.txt': '0' })];
  for (const [at, { project, home, write }] of projects.entries()) {
    const checkpoints = new StepCheckpoints(store.checkpoints, home);
    const step = {
      handle: 'later-gone',
      key: `steps.${at}@1`,
      project,
      what: 'shell',
      attempt: 1,
      isBackground: false,
    };
    const session = store.session();
    expect(await checkpoints.begin(step, session)).toBe(true);
    await session.end();
    write({ 'a.txt': '1' });
    await checkpoints.end(step);
  }
  for (const { project } of projects) rmSync(project, { recursive: true });
  for (const dryRun of [true, false])
    await expect(undoRun(store.checkpoints, { handle: 'later-gone', dryRun })).rejects.toMatchObject({
      code: 'UNDO_REFUSED',
      message: expect.stringContaining(projects[0]?.project ?? '') as string,
    });
});
