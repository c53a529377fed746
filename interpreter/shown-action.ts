/** An action as a person is shown it who is to decide about it. */
import type { Json, JsonObject } from '../language/json.ts';
import { inlineBytesMax } from '../language/limits.ts';
import type { Step } from '../language/model.ts';
import { effectOf } from './effects.ts';
import type { Effect, Strand } from './host.ts';
import type { Place, Walk } from './walk-state.ts';
import { askedIn, type BlockFrame } from './position.ts';
import { previewOf } from './preview.ts';

const fields = ['type', 'command', 'args', 'cwd', 'env', 'stdin', 'files', 'params', 'event', 'data'] as const;

/** What the action is, without what only the run's books need. */
export function actionOf(effect: Effect): JsonObject {
  return Object.fromEntries<Json>(
    Object.entries(effect).filter(([name]) => (fields as readonly string[]).includes(name)),
  );
}

/** The fields that `answers.ts` lets a persona change replace those of the action. */
export function edited(effect: Effect, changes: JsonObject): Effect {
  return { ...effect, ...changes };
}

export function shown(action: JsonObject): Json {
  return JSON.stringify(action).length <= inlineBytesMax
    ? action
    : { type: action['type'] ?? null, preview: previewOf(action) };
}

/** What a step that failed would do if it were tried again now; of a step that is no action, what it is. */
export function actionAgain(walk: Walk, strand: Strand, step: Step, place: Place, frame: BlockFrame): Json {
  if (step.type !== 'shell' && step.type !== 'command' && step.type !== 'emit') return { type: step.type };
  const { edit } = frame;
  const approved = askedIn(frame)?.effect;
  const built = approved === undefined ? effectOf(walk, strand, step, place) : { effect: approved };
  if ('failure' in built) return { type: step.type };
  return shown(actionOf(edit === undefined ? built.effect : edited(built.effect, edit)));
}
