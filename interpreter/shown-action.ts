/**
 * An action as a person is shown it who is to decide about it: all of it, whatever its size. What decides
 * what happens is here, and the digest of a question is over the same.
 */
import type { Json, JsonObject } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import { previewOf } from '../language/events/preview.ts';
import { edited, effectOf } from './build-effect.ts';
import type { Effect, Place } from './effect.ts';
import type { Strand } from './host.ts';
import { askedIn, type BlockFrame } from './position.ts';
import type { Walk } from './walk-state.ts';

const fields = [
  'type',
  'command',
  'args',
  'cwd',
  'env',
  'stdin',
  'files',
  'resolved',
  'params',
  'library',
  'event',
  'data',
  'definition',
  'base',
  'wait',
  'request',
] as const;

/** What the action is, without what only the run's books need; what it comes to stands before its parameters. */
export function shownAction(effect: Effect): JsonObject {
  const known = new Map<string, Json>(Object.entries(effect));
  return Object.fromEntries(
    fields.flatMap((name) => {
      const value = known.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** What a step that failed would do if it were tried again now; of a step that is no action, what it is. */
export function actionAgain(walk: Walk, strand: Strand, step: Step, place: Place, frame: BlockFrame): Json {
  if (step.type !== 'shell' && step.type !== 'command' && step.type !== 'emit') return { type: step.type };
  const { edit = {} } = frame;
  const approved = askedIn(frame)?.effect;
  const built = approved === undefined ? effectOf(walk, strand, step, place, edit) : { effect: edited(approved, edit) };
  const action = 'failure' in built ? built.refused : built.effect;
  return action === undefined ? { type: step.type } : shownAction(action);
}

/** The action in a line. What it does, whatever the step is called; where that is long, it says so. */
export function actionWords(step: Step, effect: Effect): string {
  const name = 'name' in step && step.name !== undefined ? `${JSON.stringify(step.name)}, ` : '';
  const text = lineOf(effect);
  const preview = previewOf(text);
  return `${name}${preview}${preview === text ? '' : ` (${text.length} characters in all)`}`;
}

function lineOf(effect: Effect): string {
  switch (effect.type) {
    case 'shell':
      return [effect.command, ...(effect.args ?? [])].join(' ');
    case 'command':
      return effect.command;
    case 'emit':
      return effect.event;
    case 'sentinel':
    case 'watch':
    case 'turn':
      return effect.label;
    default:
      return effect satisfies never;
  }
}
