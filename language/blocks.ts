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
      return step.branches.map((branch, index) => ({ key: `branches.${index}`, steps: branch }));
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
      return { ...step, branches: step.branches.map((_, index) => stepsIn(`branches.${index}`) ?? []) };
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
export function isQuickFan({ branches, failFast }: ParallelStep, isQuick: IsQuick): boolean {
  if (failFast === true && !branches.every((steps) => steps.every((step) => isQuickWithin(step, isQuick))))
    return false;
  return leadOf(branches, isQuick) === 'quick';
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
