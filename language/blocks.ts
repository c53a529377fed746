/** The lists of steps inside a step; a nested definition's are its own run's, and no block of the step that starts it. */
import type { Definition, ParallelStep, Step } from './model.ts';

/** By the key that holds each (`then`, `branches.0`); one that is left out is not there. */
export function blocksOf(step: Step): Array<{ key: string; steps: readonly Step[] }> {
  switch (step.type) {
    case 'condition':
      return (['then', 'else', 'always'] as const).flatMap((key) =>
        step[key] === undefined ? [] : [{ key, steps: step[key] }],
      );
    case 'loop':
      return [{ key: 'steps', steps: step.steps }];
    case 'parallel':
      return linesOf(step);
    case 'shell':
    case 'command':
    case 'llm':
    case 'watch':
    case 'emit':
    case 'sentinel':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
      return [];
    default:
      return step satisfies never;
  }
}

/** The branches of a parallel step, or the one body that each item of its list goes through. */
export function linesOf({ branches = [], over, steps = [] }: ParallelStep): Array<{ key: string; steps: Step[] }> {
  if (over !== undefined) return [{ key: 'steps', steps }];
  return branches.map((branch, index) => ({ key: `branches.${index}`, steps: branch }));
}

/** Items of a list that are under way at once, where the step does not say. */
export const ITEMS_AT_ONCE = 8;

/** How many lines of a parallel step are under way at once, at most. */
export function linesAtOnce({ branches = [], over, maxConcurrency }: ParallelStep): number {
  if (over !== undefined) return maxConcurrency ?? ITEMS_AT_ONCE;
  return Math.max(1, Math.min(maxConcurrency ?? branches.length, branches.length));
}

/** The first line that fails cancels the others. */
export const endsEarly = ({ failFast, over, itemErrors }: ParallelStep): boolean =>
  over === undefined ? failFast === true : itemErrors !== 'collect';

/** The definition with other steps; `stepsIn` by `steps` and `always`. */
export function withSteps(definition: Definition, stepsIn: (name: string) => Step[] | undefined): Definition {
  const [steps = [], always] = [stepsIn('steps'), stepsIn('always')];
  return { ...definition, steps, ...(always === undefined || always.length === 0 ? {} : { always }) };
}

/** The step with other steps inside, by the keys of `blocksOf`; `definition` where a nested one is known. */
export function withBlocks(
  step: Step,
  definition: Definition | undefined,
  stepsIn: (name: string) => Step[] | undefined,
): Step {
  switch (step.type) {
    case 'condition': {
      const blocks = (['then', 'else', 'always'] as const).flatMap((name) => {
        const steps = stepsIn(name);
        return steps === undefined ? [] : [[name, steps] as const];
      });
      return { ...step, ...Object.fromEntries(blocks) };
    }
    case 'loop':
      return { ...step, steps: stepsIn('steps') ?? [] };
    case 'parallel':
      return step.branches === undefined
        ? { ...step, steps: stepsIn('steps') ?? [] }
        : { ...step, branches: step.branches.map((_, index) => stepsIn(`branches.${index}`) ?? []) };
    case 'sentinel':
      return definition === undefined
        ? step
        : { ...step, definition: withSteps(definition, (name) => stepsIn(`definition.${name}`)) };
    case 'shell':
    case 'command':
    case 'llm':
    case 'watch':
    case 'emit':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
      return step;
    default:
      return step satisfies never;
  }
}

type IsQuick = (step: Step) => boolean;

/**
 * Whether one segment walks the branches of a parallel step: all of them begin with what is quick, so nothing long
 * waits for it. Where the first failure cancels the others, what is cancelled is to have begun: then all is quick.
 */
export function isQuickFan(step: ParallelStep, isQuick: IsQuick): boolean {
  const lines = linesOf(step).map(({ steps }) => steps);
  if (endsEarly(step) && !lines.every((steps) => steps.every((inner) => isQuickWithin(inner, isQuick)))) return false;
  return leadOf(lines, isQuick) === 'quick';
}

/** Steps that hold others and wait for nothing themselves. */
const isHolding = (step: Step): boolean =>
  step.type === 'condition' || step.type === 'parallel' || (step.type === 'loop' && step.loop.type !== 'event');

const isInert = ({ type }: Step): boolean => type === 'fail' || type === 'set';

/** Whether nothing in the step is long. */
export function isQuickWithin(step: Step, isQuick: IsQuick): boolean {
  if (!isHolding(step)) return isInert(step) || isQuick(step);
  return blocksOf(step).every(({ steps }) => steps.every((inner) => isQuickWithin(inner, isQuick)));
}

/** What blocks begin with, of the steps that do something; null where none does. */
function leadOf(blocks: readonly (readonly Step[])[], isQuick: IsQuick): 'quick' | 'long' | null {
  const leads = blocks.map((steps) => {
    for (const step of steps) {
      const lead = leadOfStep(step, isQuick);
      if (lead !== null) return lead;
    }
    return null;
  });
  return leads.includes('long') ? 'long' : leads.includes('quick') ? 'quick' : null;
}

function leadOfStep(step: Step, isQuick: IsQuick): 'quick' | 'long' | null {
  if (isInert(step)) return null;
  if (!isHolding(step)) return isQuick(step) ? 'quick' : 'long';
  return leadOf(
    blocksOf(step).map(({ steps }) => steps),
    isQuick,
  );
}
