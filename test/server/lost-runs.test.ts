/** Runs that were ended from outside end in the store as well, with those nested in them and what they asked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from './definitions.ts';
import { Harness, until } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const hasEnded = async (handle: string): Promise<boolean> => (await harness.store.runs.find(handle))?.finishedAt !== null;

test('a run that was terminated has failed, its nested runs too, and nobody is asked any more', async () => {
  const child = once('child', [{ type: 'approval', message: 'Ship it?' }]);
  const handle = await harness.start(once('parent', [{ type: 'sentinel', definition: child }]));
  const goesOn = await harness.start(once('goes-on', [shell('while [ ! -e go ]; do sleep 0.1; done')]));
  const nested = `${handle}/steps.0@1`;
  await until(async () => (await harness.store.inbox.list({ handle: nested })).length === 1);
  await harness.workflow(handle).terminate('by hand');
  await until(async () => (await hasEnded(handle)) && (await hasEnded(nested)), 60_000);
  const failure = { code: 'RUN_LOST', message: expect.stringMatching(/was terminated from outside \(by hand\)/) as string };
  expect(await harness.store.runs.find(handle)).toMatchObject({ status: 'failed', outcome: 'failed', failure });
  expect((await harness.store.inbox.list({ handle, all: true })).map(({ state }) => state)).toEqual(['withdrawn']);
  const events = await harness.events(nested);
  expect(events.slice(-3).map((event) => [event.type, event.key, 'outcome' in event ? event.outcome : ''].join(' '))).toEqual(['withdrawn steps.0@1 ', 'step-finished steps.0@1 cancelled', 'run-finished  failed']);
  await harness.run(once('opens', [shell('touch go')]));
  expect(await harness.result(goesOn)).toMatchObject({ outcome: 'completed' });
  expect(await harness.store.runs.find(goesOn)).toMatchObject({ status: 'completed' });
});
