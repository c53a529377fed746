/** One step where a list of steps is wanted is a list of one; an object that only holds steps stands for these. */
import { isPlain, join, Origins, type Plain } from '../draft/draft.ts';
import { rewriteStepKeys } from './step-keys.ts';
import { rewriteStepType } from './step-type.ts';
import { rewriteTag, rewriteTypeWord, STEP_TAGS } from './variants.ts';

/** What a list of steps may say of itself besides its steps; it has no name. */
const OF_A_LIST: ReadonlySet<string> = new Set(['steps', 'name', 'id', 'label', 'description']);

/** The list is ours and the step is the author's: both are found at the author's place. Anything else is left as it is. */
export function stepList(raw: unknown, path: string, origins: Origins): unknown {
  if (!isPlain(raw)) return raw;
  if (holdsOnlySteps(raw)) return stepList(stepsOf(raw, path, origins), join(path, 'steps'), origins);
  if (!isStep(raw)) return raw;
  const list = [raw];
  origins.set(list, path, new Map([['0', path]]));
  origins.inferred.push(`${path} is read as a list of one step`);
  return list;
}

export function holdsOnlySteps(raw: Plain): boolean {
  return Object.hasOwn(raw, 'steps') && Object.keys(raw).every((key) => OF_A_LIST.has(key));
}

function stepsOf(raw: Plain, path: string, origins: Origins): unknown {
  const { steps } = raw;
  if (Array.isArray(steps) && !origins.has(steps)) origins.set(steps, join(path, 'steps'));
  return steps;
}

/** What says its type, or is given one by its keys. */
export function isStep(raw: Plain): boolean {
  if (typeof raw['type'] === 'string') return true;
  const trial = new Origins().begin(raw, '', []);
  rewriteTag(trial, STEP_TAGS);
  rewriteTypeWord(trial);
  rewriteStepKeys(trial);
  rewriteStepType(trial);
  return typeof trial.value['type'] === 'string';
}
