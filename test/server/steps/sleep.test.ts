/** Steps of type `sleep` on real services: the durable timer, held and stopped, and a continue-as-new while asleep. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const asleep = (handle: string): Promise<void> =>
  harness.untilEvent(
    handle,
    ({ type, ...event }) => type === 'step-started' && 'step' in event && event.step === 'sleep',
  );

const sleptFor = async (handle: string): Promise<number> => {
  const events = await harness.events(handle);
  const end = events.find((event) => event.type === 'step-finished' && event.step === 'sleep');
  return end?.type === 'step-finished' ? end.durationMs : Number.NaN;
};

test('it waits for its time', async () => {
  const { handle, result } = await harness.run(once('naps', [{ type: 'sleep', durationMs: 1_200 }]));
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(await sleptFor(handle)).toBeGreaterThanOrEqual(1_190);
});

test('while the run is held a duration stands still', async () => {
  const handle = await harness.start(once('held', [{ type: 'sleep', durationMs: 1_500 }]));
  await asleep(handle);
  await harness.say(handle, 'pause');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect((await harness.state(handle)).status).toBe('paused');
  await harness.say(handle, 'resume');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await sleptFor(handle)).toBeGreaterThanOrEqual(3_900);
});

test.each([
  ['a stop', 'stop', { outcome: 'stopped', limit: 'stop' }],
  ['a cancellation', 'cancel', { outcome: 'cancelled' }],
] as const)('%s ends it at once', async (_what, verb, expected) => {
  const handle = await harness.start(once(`long-${verb}`, [{ type: 'sleep', durationMs: 3_600_000 }]));
  await asleep(handle);
  if (verb === 'stop') await harness.say(handle, 'stop');
  else await harness.workflow(handle).cancel();
  expect(await harness.result(handle)).toMatchObject(expected);
  expect(await sleptFor(handle)).toBeLessThan(60_000);
});

test('the run continues as new while it sleeps, and it wakes in its time', async () => {
  const work: Step[] = Array.from({ length: 6 }, (_, n) => shell(`echo ${n}`));
  const handle = await harness.start(
    once('beside', [
      { type: 'parallel', branches: [[{ type: 'sleep', durationMs: 4_000 }, create('woke', { at: '$NOW' })], work] },
    ]),
    { continueEvery: 2 },
  );
  const { runId: first } = await harness.workflow(handle).describe();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect((await harness.workflow(handle).describe()).runId).not.toBe(first);
  const slept = await sleptFor(handle);
  expect(slept).toBeGreaterThanOrEqual(3_990);
  expect(slept).toBeLessThan(20_000);
  expect(await harness.rows('woke')).toHaveLength(1);
});
