/**
 * The same trace whatever happens underneath: real runs show it with continue-as-new forced, and with no
 * workflow cache. test/server/slow/same-trace-disturbed.test.ts kills workers and says things twice meanwhile.
 */
import { test } from 'vitest';
import { useSameTrace } from '../harness/same-trace.ts';

const same = useSameTrace();

test.concurrent('with continue-as-new after every step, every 3 and every 7', async () => {
  const harness = await same.openHarness();
  await harness.startWorker();
  await same.expectSame(harness, await same.startAll(harness, [1, 3, 7]));
});

test.concurrent('with no workflow cache', async () => {
  const harness = await same.openHarness();
  await harness.startWorker({ SENTINEL_MAX_CACHED_WORKFLOWS: '0' });
  await same.expectSame(harness, await same.startAll(harness, [undefined]));
});
