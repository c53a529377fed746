/** `sentinel worker` alone, as a machine in production runs it: what starts runs there starts them. */
import { expect, test } from 'vitest';
import { addTrigger } from '../../../client/triggers/triggers.ts';
import { catalogue } from '../../catalogue.ts';
import { create, once } from '../harness/definitions.ts';
import { CLI, until } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';
import { WorkerProcess } from '../harness/worker-process.ts';

const openHarness = useHarnesses();

test('an event and a step start runs', async () => {
  const harness = await openHarness();
  const { store, client, taskQueue, project } = harness;
  const worker = await WorkerProcess.start(harness.env, [CLI, 'worker']);
  try {
    const kept = {
      name: 'kept',
      steps: [{ type: 'command', command: 'data/create', params: { collection: 'kept', data: { n: 2 } } }],
    };
    const definition = once(
      'starter',
      [{ type: 'command', command: 'sentinel/run', params: { definition: kept } }, create('kept', { n: '$event.n' })],
      { trigger: { type: 'event', event: 'deploy:done' } },
    );
    const parts = { store, client, catalogue, taskQueue };
    const added = await addTrigger(parts, { definition, inputs: {}, project, persona: 'ada' });
    if (added.type !== 'event') throw new Error('it is a trigger for events');
    await store.triggers.publish({ source: '@emit', id: '1', name: 'deploy:done', data: { n: 1 }, project: null });
    await until(async () =>
      (await store.triggers.starts(added.trigger.id, 1)).some(({ state }) => state !== 'waiting'),
    );
    const [start] = await store.triggers.starts(added.trigger.id, 1);
    expect(start).toMatchObject({ state: 'started', reason: null });
    expect(await harness.result(start?.handle ?? '')).toMatchObject({ outcome: 'completed' });
    await until(async () => (await harness.rows('kept')).length === 2);
    expect(new Set((await harness.rows('kept')).map(({ n }) => n))).toEqual(new Set([1, 2]));
  } finally {
    await worker.kill9();
  }
});
