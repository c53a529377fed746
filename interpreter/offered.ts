/** Which commands a model step may call in its run. */
import { entryOf, toolsOf } from '../language/catalogue.ts';
import type { LlmStep } from '../language/model.ts';
import { refusalOf } from '../language/permissions.ts';
import type { Walk } from './walk-state.ts';

/** The commands of the step that are built and that the run's mode lets it use at all. */
export function offered(walk: Walk, step: LlmStep): string[] {
  const { catalogue, limits } = walk.input;
  return toolsOf(step, catalogue).filter((command) => {
    const entry = entryOf(catalogue, command);
    const classes = new Set([entry.permission, ...Object.values(entry.operations ?? {})]);
    return (
      entry.planned !== true &&
      [...classes].some((permission) => refusalOf(catalogue, limits.mode, { permission, command }) === null)
    );
  });
}
