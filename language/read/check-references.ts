/**
 * Variables that nothing sets, and the current item of a loop. A definition that reads `$currentFile`
 * without setting it means the item of the current pass: the array is the one `max` counts
 * (`$plan.files.length`), else the variable or field that is the plural of the name.
 */
import type { LoopConfig } from '../model.ts';
import type { Problem } from '../problems.ts';
import { BUILT_INS } from '../scope.ts';
import type { ReferenceSite } from './collect-references.ts';
import { isPlain, type Origins } from './draft.ts';
import type { DefinitionSite, LoopSite, Sites } from './sites.ts';

/** Roots of the brace dialect, which the engine supplies. */
export const BRACE_ROOTS: ReadonlySet<string> = new Set(['steps', 'named', 'loop', 'env']);

export function checkReferences(sites: Sites, references: readonly ReferenceSite[], origins: Origins): Problem[] {
  const names = namesSet(sites);
  const [unbound, hyphened] = [new Set<string>(), new Set<string>()];
  const problems: Problem[] = [];
  for (const reference of references) {
    if (isSet(reference.name, reference.place.definition, names)) continue;
    if (BUILT_INS.has(reference.name) || BRACE_ROOTS.has(reference.name)) continue;
    if (isBound(reference.name, reference)) continue;
    const item = /^current([A-Z][A-Za-z0-9_]*)$/.exec(reference.name)?.[1];
    const loops = item === undefined ? [] : loopsFor(reference);
    if (item !== undefined && loops.length > 0) {
      if (bindItem(item, reference.name, loops, names, references, origins) || unbound.has(reference.name)) continue;
      unbound.add(reference.name);
      problems.push(unboundItem(reference, item));
      continue;
    }
    const label = hyphenedLabel(reference, names);
    // Its parts are names that nothing sets, each of them.
    if (label !== undefined && hyphened.has(`${reference.at} ${label}`)) continue;
    hyphened.add(`${reference.at} ${label}`);
    if (reference.from !== 'shell' || label !== undefined) problems.push(unknownReference(reference, label));
  }
  return problems;
}

type Names = ReadonlyMap<DefinitionSite, ReadonlySet<string>>;

/** What each definition sets by itself: inputs and outputs. */
function namesSet(sites: Sites): Names {
  const names = new Map<DefinitionSite, Set<string>>();
  for (const site of sites.definitions) {
    const inputs = site.value['inputs'];
    names.set(site, new Set(isPlain(inputs) ? Object.keys(inputs) : []));
  }
  for (const { name, definition } of sites.refused) names.get(definition)?.add(name);
  for (const { step, place } of sites.steps) {
    if ('outputTo' in step && step.outputTo !== undefined) names.get(place.definition)?.add(step.outputTo);
    if (step.name !== undefined) names.get(place.definition)?.add(step.name);
    if (step.type !== 'sentinel' || '$ref' in step.definition) continue;
    const child = sites.definitions.find((site) => site.value === (step.definition as unknown));
    for (const input of Object.keys(step.inputs ?? {})) if (child !== undefined) names.get(child)?.add(input);
  }
  return names;
}

/** A child sees its parent's variables. */
function isSet(name: string, definition: DefinitionSite, names: Names): boolean {
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) {
    if (names.get(at)?.has(name) === true) return true;
  }
  return false;
}

function isBound(name: string, reference: ReferenceSite): boolean {
  return reference.place.loops.some(({ loop }) => 'as' in loop && loop.as === name);
}

/** Loops that could bind an item here, innermost first. */
function loopsFor(reference: ReferenceSite): LoopSite[] {
  return reference.place.loops.filter(({ loop }) => loop.type !== 'once' && loop.type !== 'event').toReversed();
}

type ItemLoop = Exclude<LoopConfig, { type: 'once' } | { type: 'event' }>;

function bindItem(
  item: string,
  name: string,
  loops: readonly LoopSite[],
  names: Names,
  references: readonly ReferenceSite[],
  origins: Origins,
): boolean {
  const free = loops.filter((site): site is LoopSite & { loop: ItemLoop } => 'type' in site.loop && (site.loop as ItemLoop).as === undefined);
  const plurals = pluralsOf(item);
  const named = free.find((site) => plurals.includes(lastField(countedArray(site.loop))));
  const counted = named ?? free.find((site) => site.loop.type === 'count' && countedArray(site.loop) !== '');
  const target = counted ?? free.find((site) => site.loop.type === 'count') ?? free[0];
  if (target === undefined) return false;
  const over = target.loop.over ?? (countedArray(target.loop) || arrayNamed(plurals, target, names, references));
  if (over === undefined) return false;
  target.loop.over = over;
  target.loop.as = name;
  origins.inferred.push(`${target.path}: $${name} is the item of ${over} in each pass ("over": "${over}", "as": "${name}")`);
  return true;
}

/** `$plan.files.length` counts `$plan.files`; empty when `max` counts no array. */
function countedArray(loop: ItemLoop): string {
  return typeof loop.max === 'string' ? (/^\s*(\$[A-Za-z_][\w.[\]]*)\.length\s*$/.exec(loop.max)?.[1] ?? '') : '';
}

function lastField(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).replace('$', '');
}

function arrayNamed(plurals: readonly string[], target: LoopSite, names: Names, references: readonly ReferenceSite[]): string | undefined {
  const variable = plurals.find((plural) => isSet(plural, target.place.definition, names));
  if (variable !== undefined) return `$${variable}`;
  for (const { name, path } of references) {
    if (plurals.includes(name)) return `$${name}`;
    const at = path.findIndex((field) => plurals.includes(field));
    if (at !== -1) return `$${[name, ...path.slice(0, at + 1)].join('.')}`;
  }
  return undefined;
}

function pluralsOf(item: string): string[] {
  const one = item.charAt(0).toLowerCase() + item.slice(1);
  return [`${one}s`, `${one}es`, ...(one.endsWith('y') ? [`${one.slice(0, -1)}ies`] : [])];
}

function unboundItem(reference: ReferenceSite, item: string): Problem {
  const [plural = ''] = pluralsOf(item);
  return {
    code: 'UNBOUND_ITEM',
    severity: 'error',
    path: reference.at,
    message: `$${reference.name} is the item of no array that is known; add "over" (the array) and "as" to the loop`,
    fix: `add "over": "$${plural}", "as": "${reference.name}" to the loop`,
  };
}

/** `{{run-tests.stdout}}`, where a step is called so: behind a bare name a hyphen is a minus. */
function hyphenedLabel({ written, place }: ReferenceSite, names: Names): string | undefined {
  const content = /^\{\{\s*(.+?)\s*\}\}$/.exec(written)?.[1];
  if (content === undefined) return undefined;
  for (let at: DefinitionSite | undefined = place.definition; at !== undefined; at = at.parent?.definition) {
    for (const name of names.get(at) ?? []) if (name.includes('-') && (content === name || content.startsWith(`${name}.`))) return content;
  }
  return undefined;
}

function unknownReference(reference: ReferenceSite, label: string | undefined): Problem {
  const fix = `write {{named.${label}}}`;
  if (label !== undefined) {
    const message = `${reference.written} is read as "${label.replace(/\..*$/, '').split('-').join(' minus ')}", and nothing sets "${reference.name}"; ${fix}`;
    return { code: 'UNKNOWN_REFERENCE', severity: 'warning', path: reference.at, message, fix };
  }
  return {
    code: 'UNKNOWN_REFERENCE',
    severity: 'warning',
    path: reference.at,
    message: `nothing in this definition sets "${reference.name}" (${reference.written}); give it as an input when the run starts, or add it to "inputs"`,
  };
}
