/** kill -9 of the worker while a trigger waits for quiet: the wait is the store's, and one run starts, with the last event. */
import { expect, test } from 'vitest';
import { addTrigger } from '../../../client/triggers/triggers.ts';
import type { Json } from '../../../language/json.ts';
import { catalogue } from '../../catalogue.ts';
import { create, once } from '../harness/definitions.ts';
import { until } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();

test('one run starts, with the last event', async () => {
  const harness = await openHarness();
  const { store, client, taskQueue, project } = harness;
  const first = await harness.startWorker();
  const definition = once('reviewer', [create('seen', { n: '$event.n' })], {
    trigger: { type: 'event', event: 'deploy:done', filter: '$event.n !== 9', debounceMs: 4_000 },
  });
  const parts = { store, client, catalogue, taskQueue };
  const added = await addTrigger(parts, { definition, inputs: {}, project, persona: 'ada' });
  if (added.type !== 'event') throw new Error('it is a trigger for events');
  const { id } = added.trigger;
  const publish = (n: number): Promise<unknown> =>
    store.triggers.publish({ source: '@emit', id: String(n), name: 'deploy:done', data: { n }, project: null });
  const states = async (): Promise<Json[]> => (await store.triggers.starts(id, 10)).map(({ state }) => state);
  await publish(1);
  await publish(2);
  await until(async () => (await states()).length === 2);
  await first.kill9();
  await publish(3);
  await publish(9);
  await harness.startWorker();
  await until(async () => (await states()).includes('started'));
  expect(await states()).toEqual(['started', 'superseded', 'superseded']);
  const [start] = await store.triggers.starts(id, 1);
  expect(await harness.result(start?.handle ?? '')).toMatchObject({ outcome: 'completed' });
  expect(await harness.rows('seen')).toMatchObject([{ n: 3 }]);
});
