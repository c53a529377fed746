/**
 * The same trace whatever happens meanwhile: real runs show it with workers killed at seeded moments, and
 * with everything said to them twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import type { Harness } from '../harness/harness.ts';
import { randomFrom } from '../harness/random.ts';
import { useSameTrace } from '../harness/same-trace.ts';

const same = useSameTrace();

test.concurrent('with the worker killed at seeded moments', async () => {
  const harness = await same.openHarness();
  const random = randomFrom(20_261_121);
  let worker = await harness.startWorker();
  const runs = await same.startAll(harness, [undefined, 2]);
  for (let kill = 0; kill < 3; kill += 1) {
    await sleep(200 + random() * 1500);
    await worker.kill9();
    worker = await harness.startWorker();
  }
  await same.expectSame(harness, runs);
});

test.concurrent('with pause and resume said twice, at seeded moments', async () => {
  const harness = await same.openHarness();
  const random = randomFrom(42);
  await harness.startWorker();
  const runs = await same.startAll(harness, [undefined, 3]);
  for (let round = 0; round < 3; round += 1) {
    await sleep(random() * 500);
    await Promise.all(runs.map(({ handle }) => sayTwice(harness, handle)));
  }
  await same.expectSame(harness, runs);
});

/** A run may end meanwhile; then there is nothing left to say. */
async function sayTwice(harness: Harness, handle: string): Promise<void> {
  for (const verb of ['pause', 'pause', 'resume', 'resume'] as const)
    await harness.say(handle, verb).catch(() => undefined);
}
