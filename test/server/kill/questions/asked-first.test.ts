/**
 * Runs that are looked at before a worker that takes over has come to their next task (workflows/replay-order/task-boundaries.ts):
 * the worker goes on, whoever looks is answered, and what is said meanwhile replays.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stepsOfRun } from '../../../../runs/steer-run.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness } from '../../harness/harness.ts';
import { notReplayed } from '../../harness/replayed.ts';

const runs = 30;
const waitsMs = 3000;
const askedWithinMs = 2000;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('a run that was asked before its task replays', async () => {
  const [lost] = await Promise.all([harness.startWorker(), harness.startWorker()]);
  const waits = once('asked-first', [
    { type: 'watch', event: 'asked-first:never', timeoutMs: waitsMs, onError: 'skip' },
    shell('true'),
  ]);
  const handles = await Promise.all(
    Array.from({ length: runs }, (_, n) => harness.start(waits, { handle: `asked-first-${n}` })),
  );
  for (const handle of handles) await harness.untilEvent(handle, (event) => event.type === 'step-started');
  await lost.kill9();
  // For five seconds the server waits with each question, and then with each task, for the worker that knew the run.
  const asked = handles.map((handle, n) =>
    sleep((n / runs) * askedWithinMs).then(() => stepsOfRun(harness.client, handle)),
  );
  await sleep(waitsMs + 500);
  const said = handles.map((handle) => harness.say(handle, 'pause').catch(() => undefined));
  expect(await Promise.all(asked)).toHaveLength(runs);
  await Promise.all(said);
  for (const handle of handles) {
    await harness.say(handle, 'resume').catch(() => undefined);
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});
