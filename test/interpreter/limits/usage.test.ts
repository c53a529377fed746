/** What a step cost is told with its end, in every way of running; a step without cost tells nothing. */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { MODES, runCase, type Scenario } from '../harness/run-case.ts';

const once = (steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name: 'costs',
  steps,
  loop: { type: 'once' },
  ...rest,
});
const shell = (command: string, rest: Partial<Extract<Step, { type: 'shell' }>> = {}): Step => ({
  type: 'shell',
  command,
  ...rest,
});

const cases: { title: string; scenario: Scenario; costs: string[] }[] = [
  {
    title: 'tokens and money, and nothing of steps',
    scenario: {
      definition: once([shell('both'), shell('tokens'), shell('none'), shell('steps')]),
      replies: {
        both: { ok: true, usage: { tokens: 400, usd: 0.01 } },
        tokens: { ok: true, usage: { tokens: 7 } },
        none: { ok: true, usage: { tokens: 0, usd: 0 } },
        steps: { ok: true, usage: { steps: 3 } },
      },
    },
    costs: ['steps.0@1 ok 400 0.01', 'steps.1@1 ok 7 0', 'steps.2@1 ok', 'steps.3@1 ok'],
  },
  {
    title: 'each attempt, also one that failed',
    scenario: {
      definition: once([shell('ask', { retry: { attempts: 2, backoffMs: 1 } })]),
      replies: {
        ask: [
          { ok: false, failure: { code: 'SCRIPTED', retryable: true }, usage: { tokens: 5 } },
          { ok: true, usage: { tokens: 6 } },
        ],
      },
    },
    costs: ['steps.0@1 retried 5 0', 'steps.0#2@1 ok 6 0'],
  },
  {
    title: 'a nested run, at the step that started it',
    scenario: {
      definition: once([{ type: 'sentinel', definition: once([shell('a'), shell('b')]) }]),
      replies: { a: { ok: true, usage: { tokens: 1, usd: 0.5 } }, b: { ok: true, usage: { tokens: 2 } } },
    },
    costs: ['steps.0@1 ok 3 0.5', 'steps.0@1/steps.0@1 ok 1 0.5', 'steps.0@1/steps.1@1 ok 2 0'],
  },
  {
    title: 'a command that a segment runs',
    scenario: {
      definition: once([{ type: 'command', command: 'data/list', params: { collection: 'c' } }]),
      replies: { 'data/list': { ok: true, value: [], usage: { tokens: 9 } } },
    },
    costs: ['steps.0@1 ok 9 0'],
  },
];

test.each(cases.flatMap((each) => MODES.map((mode) => ({ ...each, mode: mode.name, run: mode }))))(
  '$title ($mode)',
  async ({ scenario, run, costs }) => {
    const { runs } = await runCase(scenario, run);
    const told = runs.flatMap((host) =>
      host.events.flatMap((event) => {
        if (event.type !== 'step-finished') return [];
        return [
          [
            host.keyOf(event.key),
            event.outcome,
            ...(event.usage !== undefined ? [event.usage.tokens, event.usage.usd] : []),
          ].join(' '),
        ];
      }),
    );
    expect(told.toSorted()).toEqual(costs.toSorted());
  },
);
