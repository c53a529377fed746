/** How much a worker works on at once is bounded; runs that wait for their turn, or for a child, are not lost. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('a worker works on as many long steps as it may, whatever number of runs there is', async () => {
  await harness.startWorker({ SENTINEL_STEPS_AT_ONCE: '1' });
  const alone = shell('mkdir busy && sleep 0.2 && rmdir busy', { outputTo: 'alone' });
  const parent = once('parent', [
    {
      type: 'parallel',
      branches: [[alone], [{ type: 'sentinel', definition: once('child', [alone]), outputTo: 'child' }]],
    },
  ]);
  const runs = await Promise.all(Array.from({ length: 3 }, () => harness.run(parent)));
  for (const { result } of runs)
    expect(result).toMatchObject({
      outcome: 'completed',
      outputs: { alone: { exitCode: 0 }, child: { alone: { exitCode: 0 } } },
    });
});
