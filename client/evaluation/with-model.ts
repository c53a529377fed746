/** A definition whose models are chosen from outside: where it says `auto`, or nothing. */
import type { Definition, Step } from '../../language/model.ts';
import type { Known } from '../read-definition.ts';

/** Commands that take a model as a parameter, as steps do. */
const ASKING = new Set(['ai/generate', 'ai/should-respond']);

const isOpen = (model: unknown): boolean => model === undefined || model === 'auto';

/** A step that names a model keeps it. */
export function withModel(definition: Definition, model: string): Definition {
  const { steps, always } = definition;
  return {
    ...definition,
    steps: inBlock(steps, model),
    ...(always === undefined ? {} : { always: inBlock(always, model) }),
  };
}

export const knownWithModel =
  (known: Known, model: string): Known =>
  (name) => {
    const definition = known(name);
    return definition === undefined ? undefined : withModel(definition, model);
  };

const inBlock = (steps: readonly Step[], model: string): Step[] => steps.map((step) => inStep(step, model));

function inStep(step: Step, model: string): Step {
  switch (step.type) {
    case 'llm':
      return isOpen(step.model) ? { ...step, model } : step;
    case 'command':
      return ASKING.has(step.command) && isOpen(step.params?.['model'])
        ? { ...step, params: { ...step.params, model } }
        : step;
    case 'condition': {
      const { then, else: otherwise, always } = step;
      return {
        ...step,
        ...(then === undefined ? {} : { then: inBlock(then, model) }),
        ...(otherwise === undefined ? {} : { else: inBlock(otherwise, model) }),
        ...(always === undefined ? {} : { always: inBlock(always, model) }),
      };
    }
    case 'loop':
      return { ...step, steps: inBlock(step.steps, model) };
    case 'parallel':
      return { ...step, branches: step.branches.map((branch) => inBlock(branch, model)) };
    case 'sentinel':
      return '$ref' in step.definition ? step : { ...step, definition: withModel(step.definition, model) };
    case 'shell':
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
