/** A segment gets no results of items that ended before it, and the run has all of them again when it reports. */
import { expect, test } from 'vitest';
import { returnListResults, withoutListResults } from '../../../interpreter/list-portions.ts';
import type { BlockFrame, OpenFrame } from '../../../interpreter/position.ts';
import type { ItemsFrame } from '../../../interpreter/items-frame.ts';
import type { Json } from '../../../language/json.ts';

const items = (results: Json[]): ItemsFrame => ({ begun: 3, count: 4, bytes: 9, results });
const list = (frame: ItemsFrame, inner: BlockFrame = { at: 0 }): BlockFrame => ({
  at: 2,
  step: {
    type: 'parallel',
    startedAt: 0,
    branches: [{ status: 'open', own: {}, block: inner, item: 3 }],
    items: frame,
  },
});
const linesOf = (block: BlockFrame): Extract<OpenFrame, { type: 'parallel' }> => {
  if (block.step?.type !== 'parallel') throw new Error('no list');
  return block.step;
};

test('results are left out, of lists in lists too, and the frame of the run stays as it is', () => {
  const block = list(items([{ a: 1 }, null, null, null]), list(items([null, { b: 2 }, null, null])));
  const before = structuredClone(block);
  const handed = withoutListResults({ block });
  expect(block).toEqual(before);
  expect(JSON.stringify(handed)).not.toMatch(/"[ab]":/);
  if (!('block' in handed)) throw new Error('no block');
  expect(linesOf(handed.block).items).toMatchObject({ areElsewhere: true, begun: 3, bytes: 9 });
  // What the segment did.
  const after = structuredClone(handed);
  const outer = linesOf(after.block);
  if (outer.items === undefined) throw new Error('no items');
  outer.items.results[1] = { a: 2 };
  returnListResults({ block }, after);
  expect(outer.items).toEqual(items([{ a: 1 }, { a: 2 }, null, null]));
  expect(linesOf(outer.branches[0]?.block ?? { at: 0 }).items).toEqual(items([null, { b: 2 }, null, null]));
});

test('a list that nothing has ended of, and one that the segment opened, are as they are', () => {
  const block = list(items([null, null, null, null]));
  expect(withoutListResults({ block })).toEqual({ block });
  const opened = list(items([{ a: 1 }, null, null, null]));
  returnListResults({ block: { at: 2 } }, { block: opened });
  expect(linesOf(opened).items?.results[0]).toEqual({ a: 1 });
});
