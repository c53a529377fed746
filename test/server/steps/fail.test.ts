/** A step of type `fail` on real services: what a run, its row and the run around it have of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create, once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

test('it ends a run with its message and code, and the parent fails with the code in its details', async () => {
  const inner = once('stock', [
    create('counted', { item: '$item' }, 'row'),
    { type: 'fail', message: 'no $row.item left', code: 'OUT_OF_STOCK' },
    create('never', { item: '$item' }),
  ]);
  const { handle, result } = await harness.run(
    once('order', [{ type: 'sentinel', definition: inner, inputs: { item: 'paper' } }]),
  );
  expect(result).toMatchObject({
    outcome: 'failed',
    status: 'failed',
    failure: {
      code: 'CHILD_FAILED',
      message: 'steps.0@1: the nested run failed: no paper left',
      details: { code: 'OUT_OF_STOCK' },
    },
  });
  const child = await harness.store.runs.find(`${handle}/steps.0@1`);
  expect(child).toMatchObject({ status: 'failed', failure: { code: 'OUT_OF_STOCK', message: 'no paper left' } });
});
