/** Whatever the definition, the replies and the way of running: no run spends more than its budget, and every run ends. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerFor, definition } from './random-definitions.ts';
import { MODES, runCase } from '../harness/run-case.ts';
import { randomRuns } from '../../random-runs.ts';

const scenario = fc
  .record({ definition, seed: fc.nat(), steps: fc.integer({ min: 1, max: 12 }) })
  .map(({ definition: random, seed, steps }) => ({
    definition: { ...random, safety: { ...random.safety, budget: { steps } } },
    inputs: { list: ['x', 'y'] },
    answer: answerFor(seed),
    steps,
  }));

test('nothing is overspent', async () => {
  const outcomes = new Set<string | undefined>();
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, ...given }) => {
      for (const mode of MODES) {
        const { effects, result } = await runCase(given, mode);
        expect({ mode: mode.name, asked: Object.keys(effects).length }).toSatisfy(
          ({ asked }: { asked: number }) => asked <= steps,
        );
        outcomes.add(result.limit ?? result.outcome);
      }
    }),
    randomRuns(150),
  );
  // The property would hold of runs that never come near their budget, too.
  expect([...outcomes]).toEqual(expect.arrayContaining(['budget.steps', 'completed', 'failed']));
});
