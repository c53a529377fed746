/** Until when a question can be answered, as its event and the inbox say it. */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { STARTS_AT } from '../../../interpreter/simulation/run-scenario.ts';
import { MODES, runCase, STRAIGHT } from '../harness/run-case.ts';

const shell: Step = { type: 'shell', command: 'x' };
const approval: Step = { type: 'approval', message: 'Go on?' };
const timed: Step = { type: 'approval', message: 'Go on?', timeoutMs: 400 };
const approved = { answers: { '**': { choice: 'approve' as const }, '**:failed': { choice: 'skip' as const } } };

const defined = (step: Step, rest: Partial<Definition> = {}): Definition => ({
  name: 'case',
  loop: { type: 'once' },
  steps: [step],
  ...rest,
});
const asks = { safety: { requireApproval: ['shell' as const], timeoutMs: 900 } };

const cases: [what: string, definition: Definition, afterMs: number | null][] = [
  ['an approval without a time', defined(approval), null],
  ['an approval with a time', defined(timed), 400],
  ['an approval in a run with a time', defined(approval, { safety: { timeoutMs: 900 } }), 900],
  ['an approval whose time ends before the run', defined(timed, { safety: { timeoutMs: 900 } }), 400],
  ['an approval whose time ends after the run', defined(timed, { timeoutMs: 300 }), 300],
  ['an action', defined(shell, asks), 900],
  [
    'a failure',
    defined(shell, { safety: { timeoutMs: 901 }, escalateOn: [{ condition: 'error', action: 'pause' }] }),
    901,
  ],
  [
    'an action in a step with a time',
    defined(
      {
        type: 'condition',
        check: 'true',
        timeoutMs: 50,
        onError: 'skip',
        then: [{ type: 'parallel', timeoutMs: 70, branches: [[shell]] }],
      },
      asks,
    ),
    50,
  ],
  ['an action of a nested run', defined({ type: 'sentinel', definition: defined(shell) }, asks), 900],
  [
    'an action under a budget of time',
    defined(shell, { safety: { requireApproval: ['shell'], budget: { wallMs: 800 } } }),
    800,
  ],
  [
    'an action in a run that is held at its limit',
    defined(shell, { safety: { ...asks.safety, onTimeout: 'pause' } }),
    null,
  ],
];

test.each(cases)('%s', async (_what, definition, afterMs) => {
  for (const mode of [STRAIGHT, ...MODES]) {
    const failing = { replies: { shell: { ok: false, failure: { code: 'BROKEN' } } } };
    const { runs } = await runCase(
      { definition, ...approved, ...(definition.escalateOn === undefined ? {} : failing) },
      mode,
    );
    const asked = runs.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'asked' ? [event.question] : [])),
    );
    expect({ mode: mode.name, ends: asked.map(({ expiresAt }) => expiresAt) }).toEqual({
      mode: mode.name,
      ends: [afterMs === null ? null : STARTS_AT + afterMs],
    });
  }
});
