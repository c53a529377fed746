/** What a step says that it used gives nothing back to the budget of its run. */
import { expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const loops: Definition = {
  name: 'loops',
  loop: { type: 'count', max: 5 },
  safety: { budget: { tokens: 100 } },
  steps: [{ type: 'shell', command: 'use' }],
};

test.each(MODES)('usage below nothing counts as nothing: $name', async (mode) => {
  const used = async (tokens: readonly number[]): Promise<unknown> => {
    const replies = {
      use: tokens.map((count) => ({ ok: true as const, value: { exitCode: 0 }, usage: { tokens: count } })),
    };
    const { result, effects } = await runCase({ definition: loops, replies }, mode);
    return [(result as { limit?: string }).limit, Object.keys(effects).length];
  };
  expect(await used([60, -60, 60, -60, 60])).toEqual(['budget.tokens', 3]);
  expect(await used([60, Number.MIN_SAFE_INTEGER, 60, -1, 60])).toEqual(['budget.tokens', 3]);
  expect(await used([20, 20, 20, 20, 19])).toEqual([undefined, 5]);
});
