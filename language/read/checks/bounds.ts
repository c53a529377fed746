/**
 * No loop runs without a bound, its own or one of an enclosing run: a run's limits on time and on
 * passes are spent by everything inside it, so they bound the loops inside it too. An enclosing loop
 * looks at its own bounds only between its passes, so it bounds nothing inside.
 */
import type { Problem } from '../../problems.ts';
import { isReferredLater } from '../../references/written-references.ts';
import type { Origins } from '../draft/draft.ts';
import { hasLimit, isLoopBounded, unboundedBehind, unboundedSentence, type UnboundedLoop } from './referred-bounds.ts';
import type { DefinitionSite, LoopSite, Sites } from '../inventory/sites.ts';
import type { KnownRefs } from './nesting.ts';

export function checkBounds(sites: Sites, origins: Origins, knownRefs: KnownRefs): Problem[] {
  return [
    ...sites.loops.filter((site) => !isBounded(site)).map(unboundedHere),
    ...checkReferred(sites, origins, knownRefs),
  ];
}

function unboundedHere({ loop, path }: LoopSite): Problem {
  return {
    code: 'UNBOUNDED_LOOP',
    severity: 'error',
    path,
    message: `"${loop.type}" can run for ever here; add "maxIterations" or "timeoutMs" to the loop, or a "safety" with one of them to the definition`,
    fix: 'add "maxIterations": 100 to the loop',
  };
}

function checkReferred(sites: Sites, origins: Origins, knownRefs: KnownRefs): Problem[] {
  const isName = (name: string): boolean => knownRefs(name) !== undefined;
  const behind = new Map<string, UnboundedLoop | undefined>();
  return sites.steps.flatMap(({ step, path, place }) => {
    if (step.type !== 'sentinel' || !('$ref' in step.definition) || typeof step.definition.$ref !== 'string') return [];
    const { $ref } = step.definition;
    if (isRunBounded(place.definition) || isReferredLater($ref, isName)) return [];
    if (!behind.has($ref)) behind.set($ref, unboundedBehind($ref, knownRefs));
    const found = behind.get($ref);
    return found === undefined ? [] : [unboundedThere($ref, found, origins.locate(step, path, ['definition', '$ref']))];
  });
}

function unboundedThere(ref: string, found: UnboundedLoop, path: string): Problem {
  return {
    code: 'UNBOUNDED_LOOP',
    severity: 'error',
    path,
    message: `${unboundedSentence(ref, found)}, or a "safety" with one of them to this definition`,
    fix: 'add "safety": { "timeoutMs": 3600000 } to this definition',
  };
}

function isBounded({ loop, owner, place }: LoopSite): boolean {
  return isLoopBounded(loop, owner) || isRunBounded(place.definition);
}

function isRunBounded(definition: DefinitionSite): boolean {
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) {
    if (hasLimit(at.value)) return true;
  }
  return false;
}
