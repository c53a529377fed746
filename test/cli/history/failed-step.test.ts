/** Where a retry begins. */
import { expect, test } from 'vitest';
import { failedStep } from '../../../client/history/failed-step.ts';
import type { RunEvent, StepOutcome } from '../../../language/events/run-event.ts';

/** `KEY` began; `KEY OUTCOME` ended. */
const eventsOf = (...lines: string[]): RunEvent[] =>
  lines.map((line, seq): RunEvent => {
    const [key = '', outcome] = line.split(' ');
    const stamp = { seq, at: seq, key, step: 'shell', label: key } as const;
    return outcome === undefined
      ? { ...stamp, type: 'step-started' }
      : { ...stamp, type: 'step-finished', outcome: outcome as StepOutcome, durationMs: 1 };
  });

test.each<[string, string[], string | null]>([
  ['nothing failed', ['steps.0@1', 'steps.0@1 ok'], null],
  ['the last step', ['steps.0@1', 'steps.0@1 ok', 'steps.1@1', 'steps.1@1 failed'], 'steps.1@1'],
  [
    'the innermost step, not those around it',
    ['steps.1@2', 'steps.1.then.0@2', 'steps.1.then.0@2 failed', 'steps.1@2 failed'],
    'steps.1.then.0@2',
  ],
  [
    'a step inside a condition, which ended with its choice',
    ['steps.1@1 ok', 'steps.1.then.0@1', 'steps.1.then.0@1 failed'],
    'steps.1.then.0@1',
  ],
  [
    'no step inside a condition whose failure was skipped',
    [
      'steps.0@1',
      'steps.0.steps.0@1.1 ok',
      'steps.0.steps.0.then.0@1.1 failed',
      'steps.0.steps.0@1.1 skipped',
      'steps.0.steps.1@1.1 failed',
      'steps.0@1 failed',
    ],
    'steps.0.steps.1@1.1',
  ],
  [
    'the first attempt of a step that was tried again',
    ['steps.4@1', 'steps.4@1 retried', 'steps.4#2@1', 'steps.4#2@1 failed'],
    'steps.4@1',
  ],
  [
    'the attempt of a step around it that failed last',
    [
      'steps.4@1',
      'steps.4.then.0@1',
      'steps.4.then.0@1 failed',
      'steps.4@1 retried',
      'steps.4#2@1',
      'steps.4#2.then.0@1',
      'steps.4#2.then.0@1 failed',
      'steps.4#2@1 failed',
    ],
    'steps.4#2.then.0@1',
  ],
  [
    'no step inside one that was skipped',
    [
      'steps.0@1',
      'steps.0.steps.0@1.1',
      'steps.0.steps.0.then.0@1.1',
      'steps.0.steps.0.then.0@1.1 failed',
      'steps.0.steps.0@1.1 skipped',
      'steps.0.steps.1@1.2',
      'steps.0.steps.1@1.2 failed',
      'steps.0@1 failed',
    ],
    'steps.0.steps.1@1.2',
  ],
  [
    'the branch that began first where several failed',
    [
      'steps.0@1',
      'steps.0.branches.1.0@1',
      'steps.0.branches.0.0@1',
      'steps.0.branches.0.0@1 failed',
      'steps.0.branches.1.0@1 failed',
      'steps.0@1 failed',
    ],
    'steps.0.branches.1.0@1',
  ],
  [
    'no step of an item whose failure its list collected',
    ['steps.0@1', 'steps.0.steps.0@1.1 failed', 'steps.0@1 ok', 'steps.1@1 failed', 'steps.2@1'],
    'steps.1@1',
  ],
  ['no step of the clean-up', ['steps.0@1', 'steps.0@1 failed', 'always.0@1', 'always.0@1 failed'], 'steps.0@1'],
  ['the step under way in a run that was lost', ['steps.0@1', 'steps.0@1 ok', 'steps.1@1'], 'steps.1@1'],
])('%s', (_what, lines, key) => {
  expect(failedStep(eventsOf(...lines))).toBe(key);
});
