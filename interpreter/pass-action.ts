/**
 * The one place before a host is asked for an effect. The action is judged by the whole list (judges.ts); what a limit
 * refuses waits for room; a question is asked where no judge refuses. After each wait and each answer the list begins
 * again, and between its last verdict and the effect nothing happens.
 */
import { canonicalText } from '../language/canonical.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { Json } from '../language/json.ts';
import { askBudget, begin, priceOf } from './budget.ts';
import type { Walking } from './drive.ts';
import type { Effect, Flow, Limit } from './effect.ts';
import type { Strand } from './host.ts';
import { holdAtLimit } from './limits.ts';
import type { Walk } from './walk-state.ts';
import { actionOf } from './action.ts';
import { foresee, resolve } from './foresee.ts';
import { failureOf, judge } from './judges.ts';
import { asksIn, refusalIn, type Asking, Allowed } from './verdict.ts';

/** What a person decided about an action. */
export type Decision = { perform: Effect } | { flow: Flow } | { failure: FailureInfo; skip: boolean };
export type Passing = { allowed: Allowed } | Exclude<Decision, { perform: Effect }>;

/** Who is asked, and where the question is kept. */
export interface Asks {
  ask(effect: Effect, asks: readonly Asking[]): Walking<Decision>;
  /** Tells whom nobody asks. */
  tell(effect: Effect): void;
  /** What was asked about is another action now. */
  askAnew(): void;
}

export function* passAction(walk: Walk, strand: Strand, built: Effect, asks: Asks): Walking<Passing> {
  let effect = built;
  let isDecided = walk.isDecided === true;
  for (;;) {
    const known = isDecided ? effect : yield* foresee(walk, effect);
    if ('code' in known) return { failure: known, skip: false };
    effect = known;
    const verdicts = judge(actionOf(walk, effect), walk, strand);
    walk.host.judged(effect.key, verdicts);
    const refusal = refusalIn(verdicts);
    if (refusal !== null) {
      if (refusal.limit === undefined) return { failure: failureOf(refusal), skip: false };
      const flow = yield* waitForRoom(walk, strand, effect, refusal.limit);
      if (flow !== null) return { flow };
      continue;
    }
    const asking = asksIn(verdicts);
    if (isDecided || asking.length === 0) {
      if (verdicts.some((verdict) => verdict.verdict === 'allow' && verdict.isTold === true)) asks.tell(effect);
      return { allowed: Allowed.by(verdicts, begin(walk, strand, effect)) };
    }
    const decision = yield* asks.ask(effect, asking);
    if (!('perform' in decision)) return decision;
    const meant = yield* resolve(walk, decision.perform);
    if ('code' in meant) return { failure: meant, skip: false };
    // An edited action that would do something else than what was shown is asked about once more.
    isDecided = canonicalText(resolvedOf(meant)) === canonicalText(resolvedOf(effect));
    if (!isDecided) asks.askAnew();
    effect = meant;
  }
}

const resolvedOf = (effect: Effect): Json => (effect.type === 'command' ? (effect.resolved ?? null) : null);

/** Null when there may be room now. */
function* waitForRoom(walk: Walk, strand: Strand, effect: Effect, limit: Limit): Walking<Flow | null> {
  const isBudget = limit === 'budget.steps' || limit === 'budget.tokens' || limit === 'budget.usd';
  return isBudget ? yield* askBudget(walk, strand, priceOf(effect)) : yield* holdAtLimit(walk, limit);
}
