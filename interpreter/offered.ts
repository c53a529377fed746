/** Which commands a model step may call in its run. */
import { entryOf, toolsOf } from '../language/catalogue.ts';
import type { LlmStep } from '../language/model.ts';
import { refusalOf } from '../language/permissions.ts';
import { refusesAlways } from '../language/policy/judge-policy.ts';
import type { Walk } from './walk-state.ts';

/** The commands of the step that are built and that the run's mode lets it use at all. */
export function callable(walk: Walk, step: LlmStep): string[] {
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

/** Those that the model is told of, and may call: what a policy refuses in any case is none of them. */
export function offered(walk: Walk, step: LlmStep): string[] {
  const { catalogue, limits } = walk.input;
  const { policies } = limits;
  const names = callable(walk, step);
  return policies === undefined ? names : names.filter((command) => !refusesAlways(policies, catalogue, command));
}
