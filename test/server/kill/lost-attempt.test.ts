/**
 * What a worker had recorded when it was killed, in a task that history does not have: whoever goes on
 * with the run otherwise takes it back.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { holdTable } from '../harness/held-table.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('a question that a lost worker had asked is not in the inbox of a run that never asked it', async () => {
  const lost = await harness.startWorker();
  const inbox = await holdTable(harness, 'inbox');
  const handle = await harness.start(once('lost', [{ type: 'approval', message: 'Go on?' }]), {
    handle: 'lost-attempt',
  });
  // The worker answers its task once the question is written.
  await until(() => inbox.isAwaited());
  await lost.kill9();
  // Nobody tells Postgres that whoever asked is gone.
  await inbox.letGo();
  await harness.untilEvent(handle, (event) => event.type === 'asked');
  expect(await harness.store.inbox.open(handle)).toHaveLength(1);
  await harness.workflow(handle).cancel();
  await harness.startWorker();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled' });
  expect((await harness.events(handle)).map(({ type }) => type)).toEqual(['run-started', 'run-finished']);
  expect(await harness.store.inbox.list({ handle, all: true })).toEqual([]);
  await until(async () => (await harness.store.runs.find(handle))?.outcome === 'cancelled');
});
