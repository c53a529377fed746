/** Whom the end of a run, and a limit that holds it, are reported to: what becomes an item of an inbox without being a question. */
import { describe, expect, test } from 'vitest';
import type { FailureInfo } from '../../../language/failure.ts';
import type { Definition, EscalationRule } from '../../../language/model.ts';
import { reportOf } from '../../../interpreter/escalation.ts';
import type { RunInput } from '../../../interpreter/host.ts';
import { holdReport } from '../../../interpreter/limits.ts';
import type { RunResult } from '../../../interpreter/outcome.ts';

const broken: FailureInfo = { code: 'BROKEN', message: 'it broke', retryable: false };
const late: FailureInfo = { code: 'STEP_TIMEOUT', message: 'it took too long', retryable: false };

const ended = (outcome: RunResult['outcome'], why: Pick<RunResult, 'failure' | 'limit'> = {}): RunResult => ({
  outcome,
  status: outcome === 'stopped' ? 'failed' : outcome,
  ...why,
  iterations: 1,
  durationMs: 1,
  outputs: {},
});

const ENDS = {
  completed: ended('completed'),
  failed: ended('failed', { failure: broken }),
  late: ended('failed', { failure: late }),
  asked: ended('failed', { failure: { ...broken, asked: true } }),
  aborted: ended('failed', { failure: { ...broken, code: 'RUN_ABORTED', asked: true } }),
  limited: ended('stopped', { limit: 'maxIterations' }),
  stopped: ended('stopped', { limit: 'stop' }),
  cancelled: ended('cancelled'),
};

type Terms = Pick<Definition, 'reportTo' | 'escalateOn'>;

const rule = (condition: EscalationRule['condition'], priority: EscalationRule['priority']): Terms => ({
  escalateOn: [{ condition, action: 'notify', priority }],
});

function inputOf(terms: Terms, parent: string | null = null): RunInput {
  const definition: Definition = { name: 'case', steps: [], loop: { type: 'once' }, ...terms };
  return { definition, parent, persona: 'ada' } as unknown as RunInput;
}

const said = (report: ReturnType<typeof reportOf>): string | undefined =>
  report && `${report.condition} ${report.priority} ${report.assignee}`;

describe('the end of a run', () => {
  test.each<[end: keyof typeof ENDS, terms: Terms, report: string | undefined]>([
    ['completed', {}, undefined],
    ['completed', { reportTo: 'inbox' }, 'complete low ada'],
    ['completed', rule('complete', 'urgent'), 'complete urgent ada'],
    ['completed', rule('error', 'urgent'), undefined],
    ['failed', {}, 'error high ada'],
    ['failed', { reportTo: 'inbox' }, 'error high ada'],
    ['failed', rule('error', 'low'), 'error low ada'],
    ['failed', rule('complete', 'low'), 'error high ada'],
    ['late', rule('timeout', 'low'), 'error low ada'],
    ['limited', {}, 'timeout high ada'],
    ['limited', rule('timeout', 'urgent'), 'timeout urgent ada'],
    // Who asked for the end knows of it: by an answer, a stop or a cancellation.
    ['asked', {}, undefined],
    ['asked', rule('error', 'low'), undefined],
    // Unless it was a rule, which asked nobody.
    ['asked', { escalateOn: [{ condition: 'error', action: 'abort', priority: 'urgent' }] }, 'error urgent ada'],
    ['aborted', { escalateOn: [{ condition: 'error', action: 'abort', priority: 'urgent' }] }, undefined],
    ['stopped', { reportTo: 'inbox' }, undefined],
    ['cancelled', { reportTo: 'inbox' }, undefined],
  ])('%s, with %j', (end, terms, report) => {
    expect(said(reportOf(inputOf(terms), ENDS[end]))).toBe(report);
  });

  test.each(Object.keys(ENDS) as (keyof typeof ENDS)[])(
    '%s is told to nobody by a silent run, and to nobody but its parent by a nested one',
    (end) => {
      expect(reportOf(inputOf({ ...rule('complete', 'high'), reportTo: 'silent' }), ENDS[end])).toBeUndefined();
      expect(
        reportOf(inputOf({ ...rule('complete', 'high'), reportTo: 'inbox' }, 'parent'), ENDS[end]),
      ).toBeUndefined();
    },
  );
});

test.each<[terms: Terms, parent: string | null, report: string | undefined]>([
  [{}, null, 'timeout high ada'],
  [rule('timeout', 'low'), null, 'timeout low ada'],
  [{}, 'parent', 'timeout high ada'],
  [{ reportTo: 'silent' }, null, undefined],
])('a run that is held at a limit, with %j, inside %s', (terms, parent, report) => {
  expect(said(holdReport(inputOf(terms, parent)))).toBe(report);
});
