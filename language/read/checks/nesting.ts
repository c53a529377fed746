/** Sentinels inside sentinels: how deep, whether a `$ref` finds its definition, and whether it comes back to itself. */
import { linesOf } from '../../blocks.ts';
import { nestingSentinelsMax } from '../../limits.ts';
import type { Definition, Step } from '../../model.ts';
import type { Problem } from '../../problems.ts';
import { isFilePath, isReferredLater } from '../../references/written-references.ts';
import { isPlain, type Origins, type Plain } from '../draft/draft.ts';
import type { DefinitionSite, Sites } from '../inventory/sites.ts';

export type KnownRefs = (name: string) => Definition | undefined;

export interface RefusedRef {
  /** The file it is in, or what else tells an author where to mend it. */
  where: string;
  problems: readonly Problem[];
}

export type RefusedRefs = (name: string) => RefusedRef | undefined;

/** Definitions looked at on behalf of one `$ref`, or of one definition. */
export const definitionsFollowedMax = 1_000;

/** The name of a definition that is spelled nearly so. */
export type NearRef = (name: string) => string | undefined;

/** How the definitions around are asked for the one that a `$ref` names. */
export interface RefLookup {
  knownRefs: KnownRefs;
  refusedRefs?: RefusedRefs | undefined;
  nearRef?: NearRef | undefined;
}

/** Problems of another definition that are told here: the rest is seen by checking that one. */
const refusedShownMax = 5;

export function checkNesting(
  sites: Sites,
  origins: Origins,
  { knownRefs, refusedRefs = () => undefined, nearRef = () => undefined }: RefLookup,
): Problem[] {
  const isName = (name: string): boolean => knownRefs(name) !== undefined;
  const depthMax = depthLimit(sites.definitions[0]?.value);
  const tooDeep = sites.definitions
    .filter((site) => site.depth === depthMax + 1)
    .map((site) => nestingTooDeep(site.path, depthMax));
  const references = sites.steps.flatMap(({ step, path, place }) => {
    if (step.type !== 'sentinel' || !('$ref' in step.definition) || typeof step.definition.$ref !== 'string') return [];
    // Why a path leads nowhere has been told where it was followed.
    if (isFilePath(step.definition.$ref) || isReferredLater(step.definition.$ref, isName)) return [];
    const at = origins.locate(step, path, ['definition', '$ref']);
    const around = namesAround(place.definition);
    return follow(step.definition.$ref, {
      path: at,
      around,
      depth: place.definition.depth + 1,
      depthMax,
      knownRefs,
      refusedRefs,
      nearRef,
    });
  });
  return [...tooDeep, ...references];
}

function depthLimit(definition: Plain | undefined): number {
  const safety = definition?.['safety'];
  const own = isPlain(safety) ? safety['maxNestingDepth'] : undefined;
  return typeof own === 'number' ? own : nestingSentinelsMax;
}

function nestingTooDeep(path: string, depthMax: number): Problem {
  const message = `sentinels are nested deeper than ${depthMax} here; flatten them, or raise "safety.maxNestingDepth"`;
  return { code: 'NESTING_TOO_DEEP', severity: 'error', path, message };
}

function namesAround(site: DefinitionSite): string[] {
  const names: string[] = [];
  for (let at: DefinitionSite | undefined = site; at !== undefined; at = at.parent?.definition) {
    if (typeof at.value['name'] === 'string') names.unshift(at.value['name']);
  }
  return names;
}

interface Trail {
  path: string;
  around: readonly string[];
  depth: number;
  depthMax: number;
  knownRefs: KnownRefs;
  refusedRefs: RefusedRefs;
  nearRef: NearRef;
}

/** Follows the references of stored definitions; reports the first thing wrong on each trail. */
function follow(name: string, start: Trail): Problem[] {
  const pending = [{ name, around: start.around, depth: start.depth }];
  const followed = new Set<string>();
  const problems: Problem[] = [];
  for (let next = pending.pop(); next !== undefined && followed.size < definitionsFollowedMax; next = pending.pop()) {
    if (next.around.includes(next.name)) {
      problems.push(cycle(start.path, [...next.around.slice(next.around.indexOf(next.name)), next.name]));
      break;
    }
    if (next.depth > start.depthMax) {
      problems.push(nestingTooDeep(start.path, start.depthMax));
      break;
    }
    const definition = start.knownRefs(next.name);
    if (definition === undefined) problems.push(...notFound(start, name, next.name));
    if (definition === undefined || followed.has(next.name)) continue;
    followed.add(next.name);
    const around = [...next.around, next.name];
    for (const inner of referencesOf(definition, (ref) => start.knownRefs(ref) !== undefined))
      pending.push({ name: inner.name, around, depth: next.depth + inner.depth });
  }
  return problems;
}

function cycle(path: string, names: readonly string[]): Problem {
  const message = `the reference comes back to itself: ${names.join(' → ')}; repeat with a loop instead`;
  return { code: 'REFERENCE_CYCLE', severity: 'error', path, message };
}

function notFound({ path, refusedRefs, nearRef }: Trail, name: string, missing: string): Problem[] {
  const through = name === missing ? '' : ` (reached through "${name}")`;
  const refused = refusedRefs(missing);
  const errors = refused?.problems.filter(({ severity }) => severity === 'error') ?? [];
  if (refused !== undefined && errors.length > 0) {
    return errors.slice(0, refusedShownMax).map(({ code, path: at, message }) => {
      const place = at === '' ? '' : `, at ${at}`;
      return {
        code,
        severity: 'error',
        path,
        message: `"${missing}"${through} has a problem (${refused.where}${place}): ${message}`,
      };
    });
  }
  const near = nearRef(missing);
  if (near !== undefined) {
    const fix = `write "${near}"`;
    const message = `there is no definition "${missing}"${through}; ${fix}${through === '' ? '' : ' there'}`;
    return [{ code: 'UNKNOWN_DEFINITION', severity: 'error', path, message, ...(through === '' ? { fix } : {}) }];
  }
  return [
    {
      code: 'UNKNOWN_DEFINITION',
      severity: 'error',
      path,
      message: `there is no definition "${missing}"${through}; save it ("sentinel save FILE"), write its path ("./FILE"), or write it inline`,
    },
  ];
}

/** The `$ref`s inside a definition, with how many sentinels deep each stands. */
function referencesOf(
  definition: Definition,
  isName: (name: string) => boolean,
): Array<{ name: string; depth: number }> {
  const found: Array<{ name: string; depth: number }> = [];
  const pending: Array<{ steps: readonly Step[]; depth: number }> = [{ steps: stepsOf(definition), depth: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { depth } = next;
    for (const step of next.steps) {
      for (const steps of listsOf(step)) pending.push({ steps, depth });
      if (step.type !== 'sentinel') continue;
      if (!('$ref' in step.definition)) pending.push({ steps: stepsOf(step.definition), depth: depth + 1 });
      else if (!isReferredLater(step.definition.$ref, isName)) found.push({ name: step.definition.$ref, depth });
    }
  }
  return found;
}

const stepsOf = ({ steps, always = [] }: Definition): readonly Step[] => [...steps, ...always];

function listsOf(step: Step): ReadonlyArray<readonly Step[]> {
  if (step.type === 'condition') return [step.then ?? [], step.else ?? [], step.always ?? []];
  if (step.type === 'loop') return [step.steps];
  return step.type === 'parallel' ? linesOf(step).map(({ steps }) => steps) : [];
}
