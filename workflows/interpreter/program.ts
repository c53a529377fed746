/** Facts of a definition that a walk looks up. */
import { findCommand } from '../../language/commands.ts';
import type { Definition, Step } from '../../language/model.ts';

/** Finds a block of steps by its path: `steps.2.branches.0`, `steps.1.then`, `steps.0.steps`. */
export function stepsAt(definition: Definition, path: string): readonly Step[] {
  let here: unknown = definition;
  for (const part of path.split('.')) {
    here = typeof here === 'object' && here !== null ? (here as { [key: string]: unknown })[part] : undefined;
  }
  if (!Array.isArray(here)) throw new Error(`bug: no block of steps at "${path}"`);
  return here as readonly Step[];
}

/** The field that stands for a variable where it is used as text, for variables set by commands and shells. */
export function textFieldsOf(definition: Definition): Map<string, string> {
  const fields = new Map<string, string>();
  const visit = (steps: readonly Step[]): void => {
    for (const step of steps) {
      for (const block of blocksOf(step)) visit(block);
      if (!('outputTo' in step) || step.outputTo === undefined) continue;
      const field = step.type === 'shell' ? 'stdout' : step.type === 'command' ? findCommand(step.command)?.text : undefined;
      if (field !== undefined) fields.set(step.outputTo, field);
    }
  };
  visit(definition.steps);
  visit(definition.always ?? []);
  return fields;
}

/** The blocks of steps inside a step, as the walk knows them; a nested definition's are its own run's. */
export function blocksOf(step: Step): readonly (readonly Step[])[] {
  switch (step.type) {
    case 'condition':
      return [step.then ?? [], step.else ?? [], step.always ?? []];
    case 'loop':
      return [step.steps];
    case 'parallel':
      return step.branches;
    case 'shell':
    case 'command':
    case 'emit':
    case 'llm':
    case 'watch':
    case 'approval':
    case 'sentinel':
      return [];
    default:
      return step satisfies never;
  }
}
