/**
 * Whenever a run is stopped or cancelled, and however it is run: the clean-up of a condition that has
 * begun runs once, and every step that has begun has one end.
 */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const shell = (command: string): Step => ({ type: 'shell', command });
const emit: Step = { type: 'emit', event: 'happened' };
const cleaned: Step = {
  type: 'condition',
  check: 'true',
  then: [
    {
      type: 'loop',
      loop: { type: 'count', max: 2 },
      steps: [emit, { type: 'parallel', branches: [[emit, emit], [shell('work')]] }, emit],
    },
  ],
  always: [shell('clean up')],
};
/** The definition, when its other branch says the word. */
const places: { place: string; steps: (word: Step[]) => Step[] }[] = [
  { place: 'a branch', steps: (word) => [{ type: 'parallel', branches: [[cleaned], word] }] },
  {
    place: 'a nested run',
    steps: (word) => [
      {
        type: 'parallel',
        branches: [
          [{ type: 'sentinel', definition: { name: 'child', loop: { type: 'once' }, steps: [cleaned] } }],
          word,
        ],
      },
    ],
  },
  {
    place: 'a loop in a branch',
    steps: (word) => [
      { type: 'parallel', branches: [[{ type: 'loop', loop: { type: 'count', max: 1 }, steps: [cleaned] }], word] },
    ],
  },
];
const cases = places.flatMap((given) => (['stop', 'cancel'] as const).map((verb) => ({ ...given, verb })));

test.each(cases)('$verb, in $place', async ({ steps, verb }) => {
  for (let moment = 1; moment <= 40; moment += 3) {
    const definition: Definition = {
      name: 'case',
      loop: { type: 'once' },
      steps: steps([shell('wait'), shell('the word')]),
    };
    const replies = {
      wait: { ok: true, tookMs: moment },
      'the word': { ok: true, tookMs: 100 },
      emit: { ok: true, tookMs: 4 },
      work: { ok: true, tookMs: 6 },
    };
    for (const mode of MODES) {
      const { runs, effects } = await runCase(
        { definition, replies, interruptions: [{ at: 'steps.0.branches.1.1@1', when: 'during', do: verb }] },
        mode,
      );
      const events = runs.flatMap((run) =>
        run.events.map((event) => ({ ...event, key: `${run.walk.input.handle} ${event.key}` })),
      );
      const started = keysOf(events, 'step-started');
      const finished = keysOf(events, 'step-finished');
      const cleanUps = Object.keys(effects).filter((key) => key.includes('.always.'));
      const begun = events.some((event) => event.type === 'step-finished' && event.step === 'condition');
      const found = {
        lost: started.filter((key) => !finished.includes(key)),
        twice: finished.length - new Set(finished).size,
        cleanUps: cleanUps.length,
      };
      expect({ moment, mode: mode.name, ...found }).toEqual({
        moment,
        mode: mode.name,
        lost: [],
        twice: 0,
        cleanUps: begun ? 1 : 0,
      });
    }
  }
});

const keysOf = (events: readonly RunEvent[], type: RunEvent['type']): string[] =>
  events.filter((event) => event.type === type).map((event) => event.key);
