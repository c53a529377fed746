/** What the list of judges says of an action. */
import { defined } from '../language/defined.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { Effect } from './effect.ts';
import type { Strand } from './host.ts';
import type { Walk } from './walk-state.ts';
import { actionOf, type Action, type Judge } from './action.ts';
import { JUDGES } from './judges.ts';
import { refusalIn, type Refusal, type Verdict } from './verdict.ts';

/** All verdicts in order, up to the first refusal. */
export function judge(action: Action, walk: Walk, strand: Strand, judges: readonly Judge[] = JUDGES): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const one of judges) {
    for (const finding of one.judge(action, walk, strand)) {
      verdicts.push({ ...finding, stage: one.stage });
      if (finding.verdict === 'refuse') return verdicts;
    }
  }
  return verdicts;
}

export const failureOf = ({ code, message, details }: Refusal): FailureInfo => ({
  code,
  message,
  retryable: false,
  ...defined({ details }),
});

const RIGHTS = JUDGES.filter(({ stage }) => stage === 'simulate' || stage === 'policy');

/** Whether an action may be at all, which is said before what is wrong with how it is written. */
export function refusedAction(walk: Walk, strand: Strand, effect: Effect): FailureInfo | null {
  const verdicts = judge(actionOf(walk, effect), walk, strand, RIGHTS);
  const refusal = refusalIn(verdicts);
  if (refusal === null) return null;
  walk.host.judged(effect.key, verdicts);
  return failureOf(refusal);
}
