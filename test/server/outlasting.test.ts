/**
 * What is said to a run while a local activity of it outlasts its workflow task: the live run and every
 * replay hear it at the same place, in the order in which it was said.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerRun } from '../../client/steer-run.ts';
import { SIGNALS } from '../../workflows/messages.ts';
import { create, once, shell } from './definitions.ts';
import { Harness } from './harness.ts';
import { heard, many, outlast } from './outlasted-runs.ts';
import { notReplayed } from './replayed.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

test('pauses and resumes said in the first steps', async () => {
  const handles = many('first');
  await outlast(harness, handles, once('first', [create('kept', { n: 1 }), { type: 'approval', message: 'Go on?' }, create('kept', { n: 2 })]), async (handle) => {
    const verbs = ['resume', 'pause', 'resume', 'pause'] as const;
    await Promise.all(verbs.map((verb, nth) => sleep(10 * nth).then(() => heard(harness, handle, verb))));
  });
  for (const handle of handles) {
    await heard(harness, handle, 'resume');
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
    for (const verb of ['pause', 'resume'] as const) await harness.workflow(handle).signal(SIGNALS.control, verb).catch(() => undefined);
  });
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});
