/** Steps of type `set` on real services: beside quick steps in one segment, by themselves, and over a continue-as-new. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { counted, create, list, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const sum = (collection: string, rest: Partial<Definition> = {}): Definition => {
  const steps: Step[] = [
    { type: 'set', values: { total: '{{(total || 0) + iteration}}', before: '$total' } },
    create(collection, { total: '$total', before: '$before' }, 'row'),
    shell('echo $total', { outputTo: 'said' }),
    { type: 'set', values: { total: '{{said.data + 0}}' } },
    list(collection, 'rows'),
  ];
  return counted(`sum-${collection}`, 5, steps, rest);
};

test.each([
  ['in segments', sum('segments'), undefined],
  ['each step by itself', sum('stepwise', { durability: 'step' }), undefined],
  ['over histories of three steps', sum('histories'), 3],
])('%s what is set stays set', async (_how, definition, continueEvery) => {
  const { result } = await harness.run(definition, continueEvery === undefined ? {} : { continueEvery });
  expect(result).toMatchObject({ outcome: 'completed', outputs: { total: 15, before: 10 } });
  const rows = (result.outputs as { rows: { total: number; before: number | null }[] }).rows;
  expect(rows.map(({ total, before }) => [total, before])).toEqual([
    [1, null],
    [3, 1],
    [6, 3],
    [10, 6],
    [15, 10],
  ]);
});

test('a loop of nothing else goes on past what one task may take', async () => {
  const definition = counted('counts-up', 20_000, [{ type: 'set', values: { n: '{{(n || 0) + 1}}' } }]);
  const { result } = await harness.run(definition);
  expect(result).toMatchObject({ outcome: 'completed', outputs: { n: 20_000 } });
});
