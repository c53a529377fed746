/**
 * What is said to a run, and asked of it, while its local activities would outlast their workflow task: the
 * live run and every replay hear it at the same place, in the order in which it was said.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerRun } from '../../../runs/steer-run.ts';
import { QUERIES, SIGNALS } from '../../../workflows/messages/messages.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { heard, many, outlast, taken } from './outlasted-runs.ts';
import { notReplayed } from '../harness/replayed.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

test('pauses and resumes said in the first steps', async () => {
  const handles = many('first');
  await outlast(
    harness,
    handles,
    once('first', [create('kept', { n: 1 }), { type: 'approval', message: 'Go on?' }, create('kept', { n: 2 })]),
    async (handle) => {
      const verbs = ['resume', 'pause', 'resume', 'pause'] as const;
      await Promise.all(verbs.map((verb, nth) => sleep(10 * nth).then(() => heard(harness, handle, verb))));
    },
  );
  for (const handle of handles) {
    await taken(harness, handle, 'resume');
    await harness.untilEvent(handle, (event) => event.type === 'asked');
    const { questions } = await harness.state(handle);
    await answerRun(harness.client, handle, { id: questions[0]?.id ?? '', choice: 'approve', by: 'ada' });
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});

test('words of a parent in the last steps', async () => {
  const handles = many('last');
  await outlast(harness, handles, once('last', [shell('true'), create('kept', { n: 3 })]), async (handle) => {
    await harness.untilEvent(handle, (event) => event.type === 'step-finished');
    for (const verb of ['pause', 'resume'] as const)
      await harness
        .workflow(handle)
        .signal(SIGNALS.control, verb)
        .catch(() => undefined);
  });
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});

test('branches that wait side by side, looked at as the Web UI does, paused and resumed', async () => {
  const handles = many('asked');
  const branches = [
    [create('kept', { n: 4 }), shell('true')],
    [shell('true'), create('kept', { n: 5 })],
    [create('kept', { n: 6 })],
  ];
  await outlast(
    harness,
    handles,
    once('asked', [{ type: 'parallel', branches }, create('kept', { n: 7 })]),
    async (handle) => {
      const asked = [QUERIES.status, QUERIES.steps, '__temporal_workflow_metadata'].map((query) =>
        harness
          .workflow(handle)
          .query(query)
          .catch(() => undefined),
      );
      await Promise.all([...asked, heard(harness, handle, 'pause')]);
      await heard(harness, handle, 'resume');
    },
  );
  for (const handle of handles) {
    await taken(harness, handle, 'resume');
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});
