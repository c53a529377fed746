/** The lists of steps inside a step; a nested definition's are its own run's, and no block of the step that starts it. */
import type { Definition, Step } from './model.ts';

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
