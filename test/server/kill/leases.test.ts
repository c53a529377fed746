/** kill -9 of the worker while steps have places in a lease and others wait: all end, and never too many at once. */
import { expect, test } from 'vitest';
import { until } from '../harness/harness.ts';
import { letGo, mostAtOnce, spansOf, using, writeLeasing } from '../harness/leasing-project.ts';
import { useHarnesses } from '../harness/opened.ts';
import { SentinelClient } from '../../../client/client.ts';

const openHarness = useHarnesses();

test.each([
  [1, 2],
  [2, 5],
])('with %i places and %i steps', async (capacity, count) => {
  const harness = await openHarness();
  writeLeasing(harness.project);
  const worker = () => harness.startWorker({ SENTINEL_PROJECT: harness.project });
  const client = new SentinelClient({ env: harness.env, startsServices: false });
  const lease = 'killed';
  const first = await worker();
  const handles: string[] = [];
  const standing = async (): Promise<string[]> =>
    (await harness.store.leases.places(100)).map(({ handle, isTaken }) => `${handle} ${isTaken ? 'has' : 'waits'}`);
  for (let n = 0; n < count; n += 1) {
    handles.push((await client.start(using(lease, { capacity, how: 'waits' }), { project: harness.project })).handle);
    await until(async () => (await standing()).length === n + 1);
  }
  await client.close();
  await until(() => spansOf(harness, lease).length === capacity);
  const before = await standing();
  expect(before).toEqual(handles.map((handle, n) => `${handle} ${n < capacity ? 'has' : 'waits'}`));
  await first.kill9();
  const killedAt = Date.now();
  // Two workers go on with what the one had.
  await Promise.all([worker(), worker()]);
  await until(() => spansOf(harness, lease).filter(({ to }) => to > killedAt + 5_000).length >= capacity, 90_000);
  expect(await standing()).toEqual(before);
  letGo(harness, lease);
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const spans = spansOf(harness, lease);
  expect(mostAtOnce(spans)).toBeLessThanOrEqual(capacity);
  expect(new Set(spans.map(({ who }) => who.replace(/#\d+$/, '')))).toEqual(
    new Set(handles.map((handle) => `${handle}/steps.0@1`)),
  );
  expect(await standing()).toEqual([]);
});
