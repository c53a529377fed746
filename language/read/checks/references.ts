/** Variables that nothing sets. */
import type { Problem } from '../../problems.ts';
import { BUILT_INS } from '../../expression/scope.ts';
import { inputNames } from '../../inputs/declared-inputs.ts';
import { inBraces, type ReferenceSite } from '../inventory/collect-references.ts';
import { variablesSetBy } from '../../references/variables-set.ts';
import { spelledNearly } from '../remedies/meant-word.ts';
import type { DefinitionSite, Sites } from '../inventory/sites.ts';
import { defined } from '../../defined.ts';

/** Roots of the brace dialect, which the engine supplies. */
export const BRACE_ROOTS: ReadonlySet<string> = new Set(['steps', 'named', 'loop', 'env']);

/** Each compares a name with all that there are. */
const lookupsMax = 20;

/** `reported`: references that another check has spoken of. */
export function checkReferences(
  sites: Sites,
  references: readonly ReferenceSite[],
  reported: ReadonlySet<ReferenceSite>,
): Problem[] {
  const names = namesSet(sites);
  const hyphened = new Set<string>();
  const problems: Problem[] = [];
  let lookups = 0;
  for (const reference of references) {
    if (isSet(reference.name, reference.place.definition, names)) continue;
    if (BUILT_INS.has(reference.name) || BRACE_ROOTS.has(reference.name)) continue;
    if (reported.has(reference) || isBound(reference.name, reference)) continue;
    const label = hyphenedLabel(reference, names);
    // Its parts are names that nothing sets, each of them.
    if (label !== undefined && hyphened.has(`${reference.at} ${label}`)) continue;
    hyphened.add(`${reference.at} ${label}`);
    const item = itemElsewhere(reference, sites);
    if (item !== undefined && reference.from !== 'shell') {
      problems.push(item);
      continue;
    }
    // In a shell line a name is the shell's own, and braces that name nothing of ours may be meant for a program.
    const isShells = reference.from === 'shell' && label === undefined;
    if (isShells && !inBraces(reference)) continue;
    const near =
      label === undefined && lookups < lookupsMax
        ? spelledNearly(reference.name, namesAround(reference, names))
        : undefined;
    lookups += 1;
    if (!isShells || near !== undefined) problems.push(unknownReference(reference, label, near));
  }
  return problems;
}

export type Names = ReadonlyMap<DefinitionSite, ReadonlySet<string>>;

/** What each definition sets by itself: inputs and outputs. */
export function namesSet(sites: Sites): Names {
  const names = new Map<DefinitionSite, Set<string>>();
  for (const site of sites.definitions) {
    names.set(site, new Set(inputNames(site.value)));
  }
  for (const { name, definition } of sites.refused) names.get(definition)?.add(name);
  for (const { step, place } of sites.steps) {
    for (const name of variablesSetBy(step)) names.get(place.definition)?.add(name);
    if (step.name !== undefined) names.get(place.definition)?.add(step.name);
    if (step.type !== 'sentinel' || '$ref' in step.definition) continue;
    const child = sites.definitions.find((site) => site.value === (step.definition as unknown));
    for (const input of Object.keys(step.inputs ?? {})) if (child !== undefined) names.get(child)?.add(input);
  }
  return names;
}

/** A child sees its parent's variables. */
export function isSet(name: string, definition: DefinitionSite, names: Names): boolean {
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) {
    if (names.get(at)?.has(name) === true) return true;
  }
  return false;
}

export function isBound(name: string, reference: ReferenceSite): boolean {
  return reference.place.loops.some(({ loop }) => 'as' in loop && loop.as === name);
}

/** The item of a list that the reference is not in. */
function itemElsewhere({ name, written, at: path, place }: ReferenceSite, sites: Sites): Problem | undefined {
  const list = sites.loops.find(
    (site) =>
      site.isApart === true && site.place.definition === place.definition && 'as' in site.loop && site.loop.as === name,
  );
  if (list === undefined) return undefined;
  const message = `${written} is the item of ${list.path}, and is not seen outside its steps; read the list, or the result of the parallel step ("outputTo")`;
  return { code: 'SIBLING_REFERENCE', severity: 'warning', path, message };
}

/** `{{run-tests.stdout}}`, where a step is called so: behind a bare name a hyphen is a minus. A label ends at the first dot. */
function hyphenedLabel({ written, place }: ReferenceSite, names: Names): string | undefined {
  const content = /^\{\{\s*(.+?)\s*\}\}$/.exec(written)?.[1];
  const label = content?.split('.', 1)[0] ?? '';
  return label.includes('-') && isSet(label, place.definition, names) ? content : undefined;
}

const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** Every name that stands for something where the reference is, and may be written there. */
function namesAround(reference: ReferenceSite, names: Names): string[] {
  const { place } = reference;
  const around = place.loops.flatMap(({ loop }) => ('as' in loop && loop.as !== undefined ? [loop.as] : []));
  for (let at: DefinitionSite | undefined = place.definition; at !== undefined; at = at.parent?.definition)
    for (const name of names.get(at) ?? []) around.push(name);
  return [...around, ...BUILT_INS, ...(inBraces(reference) ? BRACE_ROOTS : [])].filter((name) => IDENTIFIER.test(name));
}

function unknownReference(reference: ReferenceSite, label: string | undefined, near: string | undefined): Problem {
  const { at: path, name, written } = reference;
  if (label !== undefined) {
    const fix = `write {{named.${label}}}`;
    const message = `${written} is read as "${label.replace(/\..*$/, '').split('-').join(' minus ')}", and nothing sets "${name}"; ${fix}`;
    return { code: 'UNKNOWN_REFERENCE', severity: 'warning', path, message, fix };
  }
  const fix =
    near === undefined ? undefined : `write "${written.replace(new RegExp(`(?<![\\w.])${name}(?!\\w)`), near)}"`;
  const message = `nothing in this definition sets "${name}" (${written}); ${fix ?? declareIt(reference)}`;
  return { code: 'UNKNOWN_REFERENCE', severity: 'warning', path, message, ...defined({ fix }) };
}

/** With a schema of its inputs a run is given nothing else. */
function declareIt({ place }: ReferenceSite): string {
  for (let at: DefinitionSite | undefined = place.definition; at !== undefined; at = at.parent?.definition)
    if (at.value.inputSchema !== undefined) return 'add it to "properties" of "inputSchema"';
  return 'give it as an input when the run starts, or add it to "inputs"';
}
