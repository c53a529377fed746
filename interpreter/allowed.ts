/** An effect that the whole list of judges has passed. Hosts perform nothing else, and only pass-action.ts makes one. */
import type { Effect } from './effect.ts';
import type { Verdict } from './verdict.ts';

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
}
