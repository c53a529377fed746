/**
 * Where the steps of a line of execution work, if that is not the project.
 *
 * A command that opens or closes a workspace says so in its result (`root`), and the line that performed it goes on
 * there: its later steps, and the branches and nested runs that it starts. A branch that opens one of its own goes there
 * alone. The folder is kept among the variables of the line, under a name that no definition can read or set, so it is
 * part of the position.
 */
import { findCommand } from '../language/catalogue.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { SentinelStep } from '../language/model.ts';
import type { Effect, NestedEffect, Place } from './effect.ts';
import type { RunInput, Strand } from './host.ts';
import { stepsAt } from './program.ts';
import type { Walk } from './walk-state.ts';

const ROOT = '@root';

/** Absolute; undefined: the project. */
export function rootAt(
  { input }: { input: RunInput },
  { own, outer }: Pick<Strand, 'own' | 'outer'>,
): string | undefined {
  const scope = [own, ...outer].find((variables) => Object.hasOwn(variables, ROOT));
  if (scope === undefined) return input.root;
  const root = scope[ROOT];
  return typeof root === 'string' ? root : undefined;
}

/** The workspace that the run has opened itself, or was given for its own; undefined where it has none now. */
export function ownRoot({ position }: Pick<Walk, 'position'>): string | undefined {
  const root = position.own[ROOT];
  return typeof root === 'string' ? root : undefined;
}

/** `root`: absolute; null: the project. */
export function goTo({ own }: Pick<Strand, 'own'>, root: string | null): void {
  own[ROOT] = root;
}

/** Whether the run has said where it works, be it the project. */
export const hasGone = ({ position }: Pick<Walk, 'position'>): boolean => Object.hasOwn(position.own, ROOT);

/** A command that opens or closes a workspace moves the line that performed it. */
export function followCommand({ input }: Walk, strand: Strand, effect: Effect, result: Json): void {
  if (effect.type !== 'command' || findCommand(input.catalogue, effect.command)?.movesRun !== true) return;
  const root = isJsonObject(result) ? result['root'] : undefined;
  if (root === null || typeof root === 'string') goTo(strand, root);
}

/** What a branch has set and the line around it gets. */
export const isOfBranchAlone = (name: string): boolean => name === ROOT;

/** Where a nested run works: around a branch that is nothing but this run, in a workspace of its own, forked from there. */
export function nestedRoot(
  walk: Walk,
  strand: Strand,
  step: SentinelStep,
  place: Place,
  name: string,
): Pick<NestedEffect, 'root' | 'forks'> {
  const root = rootAt(walk, strand);
  if (root === undefined) return {};
  const isBranch = strand.path !== '' && strand.shield === undefined && place.path === `${strand.path}.0`;
  const isAlone = isBranch && stepsAt(walk.input.definition, strand.path).length === 1;
  return isAlone && step.await !== false ? { root, forks: name } : { root };
}
