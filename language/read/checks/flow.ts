/**
 * Variables in the order of time: what is read before anything has set it, what is read from a branch
 * that runs at the same time, and loops whose check reads nothing that the loop changes. Where a value
 * may come from elsewhere (an input, a parent, an earlier pass) nothing is said.
 */
import type { Problem } from '../../problems.ts';
import { BUILT_INS } from '../../expression/scope.ts';
import type { ReferenceSite } from '../inventory/collect-references.ts';
import { variablesSetBy } from '../../references/variables-set.ts';
import { join, type Origins } from '../draft/draft.ts';
import type { Setter, Setters } from '../inventory/setters.ts';
import type { LoopSite, Place, Sites } from '../inventory/sites.ts';
import { checkBeforeStart } from './before-start.ts';
import { BRACE_ROOTS } from './references.ts';
import { checkPaths, isShells } from './some-paths.ts';

export function checkFlow(
  sites: Sites,
  references: readonly ReferenceSite[],
  setters: Setters,
  origins: Origins,
): Problem[] {
  return [
    ...checkBeforeStart(sites, references, setters, origins),
    ...references.flatMap((reference) => checkOrder(reference, setters)),
    ...checkLoops(sites, references, setters, origins),
  ];
}

function checkOrder(reference: ReferenceSite, setters: Setters): Problem[] {
  const { name, place, at, written, from } = reference;
  const own = setters.onlySetters(name, place.definition).filter(({ site }) => !isShells(reference, site.step));
  if (own.length === 0) return [];
  if (own.every((setter) => isElsewhere(setter.site.place, place))) {
    const message = `${written} is set by ${pathsOf(own)}, for one item of a list, and is not seen outside; read it in the result of the parallel step ("outputTo")`;
    return [{ code: 'SIBLING_REFERENCE', severity: 'warning', path: at, message }];
  }
  const reader = setters.siteOf(reference.reader);
  if (reader === undefined || reader.site.place.definition !== place.definition) return [];
  // The first pass ends there.
  if (from !== 'shell' && own.some((setter) => repeatTogether(setter.site.place, place))) return [];
  if (own.every((setter) => setters.areSiblings(setter.site, reader.site))) {
    const message = `${written} is set by ${pathsOf(own)}, in a branch that runs at the same time, and branches do not see each other; read it after the parallel step`;
    return [{ code: 'SIBLING_REFERENCE', severity: 'warning', path: at, message }];
  }
  const before = own.filter((setter) => setter.order < reader.order);
  if (before.length > 0) return checkPaths(reference, before, reader, setters);
  const message = `${written} is read here before ${pathsOf(own)} sets it; move that step before this one, or give it a value in "inputs"`;
  return [{ code: 'USED_BEFORE_SET', severity: 'warning', path: at, message }];
}

function pathsOf(setters: readonly Setter[]): string {
  return setters.map(({ site }) => site.path).join(' and ');
}

/** Whether it is set in an item of a list that the reader is not in. */
const isElsewhere = (setter: Place, reader: Place): boolean =>
  setter.loops.some(({ isApart, owner }) => isApart === true && !reader.loops.some((other) => other.owner === owner));

/** In a later pass of a loop around both, what a step after this one set is there. */
function repeatTogether(a: Place, b: Place): boolean {
  return a.loops.some(
    ({ loop, owner, isApart }) =>
      isApart !== true && loop.type !== 'once' && b.loops.some((other) => other.owner === owner),
  );
}

function checkLoops(sites: Sites, references: readonly ReferenceSite[], setters: Setters, origins: Origins): Problem[] {
  const checked = sites.loops.filter(({ loop }) => loop.type === 'until' || loop.type === 'while');
  if (checked.length === 0) return [];
  const byPlace = new Map<string, ReferenceSite[]>();
  for (const reference of references)
    if (reference.from === 'expression') byPlace.set(reference.at, [...(byPlace.get(reference.at) ?? []), reference]);
  return checked.flatMap((site) => {
    const at = origins.locate(site.loop, site.path, ['check']);
    const read = byPlace.get(at) ?? [];
    return read.length > 0 && read.every((reference) => isFixed(reference, site, sites, setters))
      ? [stuck(site, at, read)]
      : [];
  });
}

/** Set somewhere, and nowhere inside the loop. */
function isFixed({ name }: ReferenceSite, loop: LoopSite, sites: Sites, setters: Setters): boolean {
  if (BUILT_INS.has(name) || BRACE_ROOTS.has(name)) return false;
  const own = setters.onlySetters(name, loop.place.definition);
  if (own.length > 0) return own.every(({ site }) => !site.place.loops.some(({ owner }) => owner === loop.owner));
  const inputs = loop.place.definition.value['inputs'];
  const isInput = typeof inputs === 'object' && inputs !== null && Object.hasOwn(inputs, name);
  return (
    isInput &&
    !sites.steps.some(({ step }) => step.name === name || variablesSetBy(step).includes(name)) &&
    !sites.refused.some((one) => one.name === name) &&
    !sites.loops.some((site) => 'as' in site.loop && site.loop.as === name)
  );
}

function stuck({ loop, path }: LoopSite, at: string, read: readonly ReferenceSite[]): Problem {
  const names = [...new Set(read.map(({ written }) => written))].join(', ');
  const end =
    loop.type === 'until'
      ? 'it ends after one pass, or goes on to its bound'
      : 'it makes no pass, or goes on to its bound';
  const message = `nothing in the loop sets ${names}, so its check never changes: ${end}; set what it reads in a step of the loop`;
  return { code: 'STUCK_LOOP', severity: 'warning', path: at === '' ? join(path, 'check') : at, message };
}
