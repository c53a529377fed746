/** kill -9 of the worker while a run sleeps: the timer is the server's, and another worker wakes the run in its time. */
import { setTimeout as passed } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { create, once } from '../harness/definitions.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();

test('a sleep outlasts its worker', async () => {
  const harness = await openHarness();
  const first = await harness.startWorker();
  const handle = await harness.start(
    once('sleeper', [
      create('kept', { at: 'before' }),
      { type: 'sleep', durationMs: 6_000 },
      create('kept', { at: 'after' }),
    ]),
  );
  await harness.untilEvent(handle, (event) => event.type === 'step-started' && event.step === 'sleep');
  await first.kill9();
  await passed(1_000);
  await harness.startWorker();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect((await harness.rows('kept')).map((row) => row['at'])).toEqual(['before', 'after']);
  const end = (await harness.events(handle)).find((event) => event.type === 'step-finished' && event.step === 'sleep');
  const slept = end?.type === 'step-finished' ? end.durationMs : Number.NaN;
  expect(slept).toBeGreaterThanOrEqual(5_990);
  expect(slept).toBeLessThan(60_000);
});
