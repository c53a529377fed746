/** kill -9 of the worker while one run has a group and another waits for it, and the end of a holder from outside. */
import { expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { create, once } from '../harness/definitions.ts';
import { until, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();

const grouped: Definition = once(
  'grouped',
  [create('log', { at: '$name began' }), { type: 'watch', event: '$name:go' }, create('log', { at: '$name ended' })],
  { inputs: { name: 'a' }, concurrency: { group: 'one' } },
);

const said = async (harness: Harness): Promise<unknown[]> => (await harness.rows('log')).map(({ at }) => at);

const letGo = (harness: Harness, name: string): Promise<unknown> =>
  harness.store.triggers.publish({ source: '@emit', id: name, name: `${name}:go`, data: null, project: null });

/** One has the group, two wait for it, in this order. */
async function three(harness: Harness): Promise<[string, string, string]> {
  const holder = await harness.start(grouped, { inputs: { name: 'h1' } });
  await until(async () => (await said(harness)).includes('h1 began'));
  const waits = async (name: string): Promise<string> => {
    const handle = await harness.start(grouped, { inputs: { name } });
    await harness.untilEvent(handle, (event) => event.type === 'group' && event.state === 'waiting');
    return handle;
  };
  return [holder, await waits('h2'), await waits('h3')];
}

test('the group and the places in it outlast the worker', async () => {
  const harness = await openHarness();
  const first = await harness.startWorker();
  const runs = await three(harness);
  await first.kill9();
  // Its end finds nobody who could hear of it.
  await letGo(harness, 'h1');
  const second = await harness.startWorker();
  await until(async () => (await said(harness)).includes('h2 began'));
  expect(await said(harness)).toEqual(['h1 began', 'h1 ended', 'h2 began']);
  // Now the holder is one that had waited under another worker.
  await second.kill9();
  await harness.startWorker();
  await letGo(harness, 'h2');
  await letGo(harness, 'h3');
  for (const handle of runs) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await said(harness)).toEqual(['h1', 'h2', 'h3'].flatMap((name) => [`${name} began`, `${name} ended`]));
});

test('a holder that is terminated from outside frees the group, and so does one that waits', async () => {
  const harness = await openHarness();
  await harness.startWorker();
  const [holder, second, third] = await three(harness);
  await harness.workflow(second).terminate('somebody ended it');
  await harness.workflow(holder).terminate('somebody ended it');
  await until(async () => (await said(harness)).includes('h3 began'), 90_000);
  await letGo(harness, 'h3');
  expect(await harness.result(third)).toMatchObject({ outcome: 'completed' });
  expect(await said(harness)).toEqual(['h1 began', 'h3 began', 'h3 ended']);
  for (const handle of [holder, second])
    expect(await harness.store.runs.find(handle)).toMatchObject({ outcome: 'failed', failure: { code: 'RUN_LOST' } });
});
