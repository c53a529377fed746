/** What the items of a list have done is not lost to the size of the sum of their results. */
import { expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { listBytesMax } from '../../../language/limits.ts';
import type { Definition } from '../../../language/model.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const MIB = 1024 * 1024;
const listed = (items: number[]): Definition => ({
  name: 'sizes',
  inputs: { items },
  loop: { type: 'once' },
  steps: [
    {
      type: 'parallel',
      over: '$items',
      as: 'item',
      maxConcurrency: 1,
      steps: [
        { type: 'shell', command: 'read $item', outputTo: 'read' },
        { type: 'set', values: { n: '$item' } },
      ],
      outputTo: 'results',
    },
  ],
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const said = (value: Json): { ok: true; value: Json } => ({ ok: true, value });
const [straight = { name: 'straight' }] = MODES;

test('two items of 5 MiB among many small ones: all results are kept', async () => {
  const large = said({ content: 'x'.repeat(5 * MIB), path: 'large' });
  const { trace, result } = await runCase(
    {
      definition: listed(upTo(12)),
      replies: { 'shell read 3': large, 'shell read 7': large, 'shell read *': said({ content: 'small' }) },
    },
    straight,
  );
  expect(trace.at(-1)).toBe('steps.0@1 parallel ok "each item of $items"');
  const results = result.outputs['results'] as { read: { content: string }; n: number }[];
  expect(results.map(({ read, n }) => [n, read.content.length])).toEqual(
    upTo(12).map((n) => [n, n === 3 || n === 7 ? 5 * MIB : 5]),
  );
});

test('beyond what a list may hold its large values alone are left out, and the run is told once', async () => {
  const value = said({ content: 'x'.repeat(7.5 * MIB), path: 'file' });
  const { trace, result } = await runCase(
    { definition: listed(upTo(11)), replies: { 'shell read 10': said({ content: 'small' }), 'shell read *': value } },
    straight,
  );
  expect(trace.filter((line) => line.includes('warning'))).toEqual(['steps.0@1 warning VALUE_TOO_LARGE']);
  expect(trace.at(-1)).toBe('steps.0@1 parallel ok "each item of $items"');
  const results = result.outputs['results'] as { read: { content: Json; path: string }; n: number }[];
  expect(results.map(({ n }) => n)).toEqual(upTo(11));
  expect(results.filter(({ read }) => typeof read.content === 'string')).toHaveLength(9);
  expect(results[8]?.read).toMatchObject({
    content: { omitted: 'VALUE_TOO_LARGE', bytes: 7.5 * MIB + 2 },
    path: 'file',
  });
  expect(results[10]).toMatchObject({ read: { content: 'small' }, n: 10 });
  expect(JSON.stringify(results).length).toBeLessThan(listBytesMax + MIB);
});
