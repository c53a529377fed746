/** What is said of an action before it happens, and the effect that nothing said against. */
import type { JsonObject } from '../language/json.ts';
import type { Limit, Effect } from './effect.ts';

/** In this order: what it would do, whether it may be, whether there is room for it, whether somebody lets it. */
export const STAGES = ['simulate', 'policy', 'limits', 'approval'] as const;
export type Stage = (typeof STAGES)[number];

/** Of one judge. `rule` names what it goes by, `why` is half a sentence about the action. */
export type Finding = { rule: string; /** One of a policy. */ isRule?: true } & (
  | { verdict: 'allow'; /** The persona is told. */ isTold?: true }
  | { verdict: 'ask'; why: string }
  /** `limit`: it may be extended, or what others have reserved of it may come back. */
  | { verdict: 'refuse'; why: string; code: string; message: string; limit?: Limit; details?: JsonObject }
);

export type Verdict = Finding & { stage: Stage };
export type Refusal = Extract<Verdict, { verdict: 'refuse' }>;
export type Asking = Extract<Verdict, { verdict: 'ask' }>;

/** The list ends with the first one. */
export function refusalIn(verdicts: readonly Verdict[]): Refusal | null {
  const last = verdicts.at(-1);
  return last?.verdict === 'refuse' ? last : null;
}

export const asksIn = (verdicts: readonly Verdict[]): Asking[] =>
  verdicts.filter((verdict): verdict is Asking => verdict.verdict === 'ask');

/** An effect that the whole list of judges has passed. Hosts perform nothing else, and only pass-action.ts makes one. */
export class Allowed {
  readonly effect: Effect;

  private constructor(effect: Effect) {
    this.effect = effect;
  }

  /** A refusal lets nothing through, whoever asks for it. */
  static by(verdicts: readonly Verdict[], effect: Effect): Allowed {
    if (verdicts.length === 0 || verdicts.some(({ verdict }) => verdict === 'refuse'))
      throw new Error(`bug: "${effect.key}" is to be done, and not all judges let it`);
    return new Allowed(effect);
  }

  /** What was let through before, and claimed: it may have begun. */
  static before(effect: Effect): Allowed {
    return new Allowed(effect);
  }
}
