/** Whatever the definition and the replies: every way of running gives the same run, and it ends. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { answerFor, cleaningDefinition } from './random-definitions.ts';
import { MODES, runCase, STRAIGHT, type Outcome } from '../harness/run-case.ts';
import { randomRuns } from '../../random-runs.ts';

const scenario = fc.record({ definition: cleaningDefinition, seed: fc.nat() }).map(({ definition: random, seed }) => ({
  definition: random,
  inputs: { list: ['x', 'y'] },
  answer: answerFor(seed),
}));

test('all ways of running agree', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const straight = await runCase(given, STRAIGHT);
      expectOrderly(straight);
      for (const mode of MODES.slice(1)) {
        const { runs: _runs, ...other } = await runCase(given, mode);
        const { trace, effects, result } = straight;
        expect(withoutMoments({ mode: mode.name, ...other })).toEqual(
          withoutMoments({ mode: mode.name, trace, effects, result }),
        );
      }
    }),
    randomRuns(150),
  );
});

/** A yield takes a millisecond: what a message says of the clock is another moment then. */
const withoutMoments = (outcome: object): unknown =>
  JSON.parse(JSON.stringify(outcome).replaceAll(/until \d{4}-\d\d-\d\dT[\d:.]+Z/g, 'until then'));

function expectOrderly({ runs }: Outcome): void {
  for (const { events, result } of runs) {
    const numbers = events.map((event) => event.seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const started = keysOf(events, 'step-started');
    const finished = keysOf(events, 'step-finished');
    expect(new Set(started).size).toBe(started.length);
    expect(new Set(finished).size).toBe(finished.length);
    expect(new Set(finished)).toEqual(new Set([...finished, ...started]));
    expect(result).not.toBeNull();
  }
}

const keysOf = (events: readonly RunEvent[], type: RunEvent['type']): string[] =>
  events.filter((event) => event.type === type).map((event) => event.key);
