/** A definition whose models are chosen from outside: where it says `auto`, or nothing. */
import { findCommand } from '../../language/catalogue.ts';
import { builtInCatalogue } from '../../systems/catalogue.ts';
import { blocksOf, withBlocks, withSteps } from '../../language/blocks.ts';
import type { Definition, Step } from '../../language/model.ts';
import type { Known } from '../../world/definitions/definition-files.ts';

/** Some commands take a model as a parameter, as steps do. */
const asksModel = (command: string): boolean => findCommand(builtInCatalogue(), command)?.asksModel === true;

const isOpen = (model: unknown): boolean => model === undefined || model === 'auto';

/** A step that names a model keeps it. */
export const withModel = (definition: Definition, model: string): Definition =>
  withSteps(definition, (name) => {
    const steps = name === 'always' ? definition.always : definition.steps;
    return steps === undefined ? undefined : inBlock(steps, model);
  });

export const knownWithModel =
  (known: Known, model: string): Known =>
  (name) => {
    const definition = known(name);
    return definition === undefined ? undefined : withModel(definition, model);
  };

const inBlock = (steps: readonly Step[], model: string): Step[] => steps.map((step) => inStep(step, model));

function inStep(step: Step, model: string): Step {
  if (step.type === 'llm') return isOpen(step.model) ? { ...step, model } : step;
  if (step.type === 'command' && asksModel(step.command) && isOpen(step.params?.['model']))
    return { ...step, params: { ...step.params, model } };
  if (step.type === 'sentinel' && !('$ref' in step.definition))
    return { ...step, definition: withModel(step.definition, model) };
  const blocks = new Map(blocksOf(step).map(({ key, steps }) => [key, inBlock(steps, model)]));
  return withBlocks(step, undefined, (key) => blocks.get(key));
}
