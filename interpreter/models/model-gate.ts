/** Between two things that a model step does: may it go on? */
import type { LlmStep } from '../../language/model.ts';
import { flowOf } from '../attempts.ts';
import { stepTimeLeft } from './build-turn.ts';
import type { Walking } from '../drive.ts';
import { isCancelled, shieldOf, type Strand } from '../host.ts';
import { holdAtLimit, limitReached } from '../limits.ts';
import type { ModelFrame } from '../position.ts';
import type { Walk } from '../walk-state.ts';
import type { Halt, Place } from '../effect.ts';
import { flowOfPlace, lacksPlace, takePlace, waitAtGate } from '../places.ts';

export interface AtModel {
  walk: Walk;
  strand: Strand;
  step: LlmStep;
  place: Place;
  open: ModelFrame;
}

/** Between two things that the step does: is the run held, stopped, cancelled, over a limit, or about to continue as new? */
export function* passGate(
  { walk, strand, step, place, open }: AtModel,
  between: 'turns' | 'calls',
): Walking<Halt | null> {
  if (isCancelled(strand)) return { flow: { kind: 'cancelled' } };
  const reached = (): ReturnType<typeof limitReached> => (shieldOf(strand) === null ? limitReached(walk) : null);
  for (let limit = reached(); limit !== null; limit = reached()) {
    const flow = yield* holdAtLimit(walk, limit);
    if (flow) return { flow };
  }
  const asked = walk.host.gate(strand, place.key, step, between === 'calls');
  const gate = typeof asked === 'string' ? asked : yield* waitAtGate(walk, asked);
  if (gate !== 'go') return { flow: flowOf(gate) };
  const placed = lacksPlace(walk, strand) ? yield* takePlace(walk, strand) : null;
  if (placed !== null) return { flow: flowOfPlace(placed) };
  if (isCancelled(strand)) return { flow: { kind: 'cancelled' } };
  return stepTimeLeft(walk, strand, step, open) > 0
    ? null
    : failing(
        'STEP_TIMEOUT',
        `${place.key}: the model had not answered within the step's time; raise timeoutMs, or ask for less`,
        true,
      );
}

export function failing(code: string, message: string, retryable = false): Halt {
  return { ending: { failure: { code, message, retryable } } };
}
