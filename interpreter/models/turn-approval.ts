/**
 * A model that a rule asks about: the question comes before its first turn, and the answer holds for the turns of the
 * step with the same model and the same tools. What the model calls is judged by itself.
 */
import { canonicalText } from '../../language/canonical.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { askPersona, forgetAnswer } from '../approval.ts';
import type { Effect, TurnEffect } from '../effect.ts';
import { runningMs } from '../limits.ts';
import type { AtModel } from './model-gate.ts';
import type { Asks } from '../pass-action.ts';

export function asksAboutTurn({ walk, strand, step, place, open }: AtModel): Asks {
  return {
    *ask(effect, asks) {
      const turn = turnIn(effect);
      const about = canonicalText({ model: turn.model, tools: turn.tools });
      if (open.approved === about) return { perform: effect };
      if (open.approved !== undefined) forgetAnswer(walk, place);
      delete open.approved;
      open.asking ??= runningMs(walk);
      const name = step.name === undefined ? '' : `${JSON.stringify(step.name)}, `;
      const words = `${place.key} wants to ask: ${name}${turn.model}`;
      const decision = yield* askPersona(walk, strand, place, { effect, words, asks, action: shownTurn(turn) });
      if ('flow' in decision) return decision;
      // The step's time does not pass while its persona is asked.
      open.since += runningMs(walk) - open.asking;
      delete open.asking;
      if ('perform' in decision) open.approved = about;
      return decision;
    },
    tell: () => undefined,
    askAnew: () => undefined,
  };
}

function turnIn(effect: Effect): TurnEffect {
  if (effect.type !== 'turn') throw new Error(`bug: "${effect.key}" is no turn of a model`);
  return effect;
}

/** Whom it asks, what about, and what that may call. */
function shownTurn({ type, model, opening, tools }: TurnEffect): JsonObject {
  return { type, model, opening: opening as unknown as Json, tools };
}
