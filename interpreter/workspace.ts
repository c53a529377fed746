/**
 * Where the steps of a line of execution work, if that is not the project.
 *
 * A command that opens or closes a workspace says so in its result (`root`), and the line that performed it goes on
 * there: its later steps, and the branches and nested runs that it starts. A branch that opens one of its own goes there
 * alone. The folder is kept among the variables of the line, under a name that no definition can read or set, so it is
 * part of the position.
 */
import { findCommand } from '../language/catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { SentinelStep } from '../language/model.ts';
import type { Effect, NestedEffect, Place } from './effect.ts';
import type { RunInput, Strand } from './host.ts';
import { scopesOf } from './edited-paths.ts';
import type { Position } from './position.ts';
import { stepsAt } from './program.ts';
import type { Walk } from './walk-state.ts';

const ROOT = '@root';
/** In a run that goes on from where another stood, until it has workspaces of its own: the handle of that one. */
const LEFT_BY = '@leftBy';

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
  const { [ROOT]: root, [LEFT_BY]: others } = position.own;
  return typeof root === 'string' && others === undefined ? root : undefined;
}

/** `root`: absolute; null: the project. */
export function goTo({ own }: Pick<Strand, 'own'>, root: string | null): void {
  own[ROOT] = root;
}

/** Whether the run has said where it works, be it the project. */
export const hasGone = ({ position }: Pick<Walk, 'position'>): boolean => Object.hasOwn(position.own, ROOT);

/** Where a fork begins, whose workspaces are those of the run `of`. `root`: where that one worked, if it said nothing else. */
export function leaveWorkspaces(position: Position, of: string, root?: string): void {
  const { own } = position;
  if (root !== undefined && !Object.hasOwn(own, ROOT)) own[ROOT] = root;
  if (rootsIn({ position }).length > 0) own[LEFT_BY] = of;
}

export interface LeftWorkspaces {
  /** The run that they are of. */
  of: string;
  roots: string[];
}

/** Null where the run has nothing to take over. */
export function leftWorkspaces({ position }: Pick<Walk, 'position'>): LeftWorkspaces | null {
  const of = position.own[LEFT_BY];
  return typeof of === 'string' ? { of, roots: [...new Set(rootsIn({ position }))] } : null;
}

/** `taken`: by the root of the other run, its own. */
export function takeWorkspaces({ position }: Pick<Walk, 'position'>, taken: JsonObject): void {
  for (const own of scopesOf({ position })) {
    const root = own[ROOT];
    const now = typeof root === 'string' ? taken[root] : undefined;
    if (now !== undefined) own[ROOT] = now;
  }
  delete position.own[LEFT_BY];
}

const rootsIn = (walk: Pick<Walk, 'position'>): string[] =>
  scopesOf(walk).flatMap(({ [ROOT]: root }) => (typeof root === 'string' ? [root] : []));

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
