/** Groups and time travel: a fork waits like any other run, and the histories of runs that waited replay. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { create, once } from '../harness/definitions.ts';
import { forkOf } from '../harness/forked.ts';
import { Harness, until } from '../harness/harness.ts';
import { notReplayed } from '../harness/replayed.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const definition: Definition = once(
  'forked-group',
  [create('log', { at: '$name began' }), { type: 'watch', event: '$name:go' }, create('log', { at: '$name ended' })],
  { inputs: { name: 'a' }, concurrency: { group: 'forked' } },
);

const said = async (): Promise<unknown[]> => (await harness.rows('log')).map(({ at }) => at);

const letGo = (name: string): Promise<unknown> =>
  harness.store.triggers.publish({ source: '@emit', id: name, name: `${name}:go`, data: null, project: null });

const waits = (handle: string): Promise<void> =>
  harness.untilEvent(handle, (event) => event.type === 'group' && event.state === 'waiting');

test('a fork waits for the group, and everything that waited replays', async () => {
  const first = await harness.start(definition, { inputs: { name: 'f1' } });
  await letGo('f1');
  await harness.result(first);
  const second = await harness.start(definition, { inputs: { name: 'f2' } });
  await until(async () => (await said()).includes('f2 began'));
  const { handle } = await forkOf(harness, { code: await buildBundle() }, { handle: first, at: 'steps.2@1' });
  await waits(handle);
  const fourth = await harness.start(definition, { inputs: { name: 'f4' }, continueEvery: 1 });
  await waits(fourth);
  // Held and let go, the one before it tells of itself, and nobody has its turn by that.
  await harness.say(handle, 'pause');
  await harness.say(handle, 'resume');
  await letGo('f2');
  await harness.result(second);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  await letGo('f4');
  expect(await harness.result(fourth)).toMatchObject({ outcome: 'completed' });
  expect(await said()).toEqual(['f1 began', 'f1 ended', 'f2 began', 'f2 ended', 'f1 ended', 'f4 began', 'f4 ended']);
  expect(await notReplayed(harness, [first, second, handle, fourth], 0)).toEqual([]);
});
