/**
 * The current item of a loop. A definition that reads `$currentFile` without setting it, or a loop that
 * names its item (`as`) and no array, means the item of the current pass: the array is the one `max`
 * counts (`$plan.files.length`), else the variable or field that is the plural of the name. The loop gets
 * `over` and `as`; what finds no array is a problem.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Problem } from '../../problems.ts';
import type { KnownRefs } from '../checks/nesting.ts';
import { BRACE_ROOTS, isSet, namesSet, type Names } from '../checks/references.ts';
import { expressionReferences, type ReferenceSite } from '../inventory/collect-references.ts';
import { countedArray, countsPickedItems, type CountedArray } from './counted-array.ts';
import type { Origins } from '../draft/draft.ts';
import { isUnsetItem, referredItems } from './referred-items.ts';
import { takesItem, type ItemSite, type Sites } from '../inventory/sites.ts';

export interface BoundItems {
  problems: Problem[];
  /** What the arrays that were filled in read, where nothing the author wrote reads it there. */
  references: ReferenceSite[];
  /** Items without an array: reported here, and no unknown variables. */
  unbound: ReadonlySet<ReferenceSite>;
}

export function bindItems(
  sites: Sites,
  references: readonly ReferenceSite[],
  origins: Origins,
  known: { catalogue: Catalogue; knownRefs: KnownRefs },
): BoundItems {
  const work: Work = { names: namesSet(sites), references, origins, read: [] };
  const problems: Problem[] = [];
  for (const site of sites.loops) {
    if (!takesItem(site) || site.loop.as === undefined || site.loop.over !== undefined) continue;
    if (!bindTo([site], site.loop.as, itemOf(site.loop.as), work))
      problems.push(unboundName(site, site.loop.as, origins));
  }
  const unbound = findItems(references, work);
  const unboundBelow = findItems(referredItems(sites, origins, known), work);
  problems.push(...onceEach(unbound).map((reference) => unboundItem(reference, work.names)));
  problems.push(...onceEach(unboundBelow).map(unboundBelowItem));
  return { problems, references: work.read, unbound: new Set(unbound) };
}

/** Gives the items that are read an array each; those are left that find none. */
function findItems(references: readonly ReferenceSite[], work: Work): ReferenceSite[] {
  return references.filter((reference) => {
    const { name, place } = reference;
    if (!isUnsetItem(reference, work.names)) return false;
    const loops = place.loops.filter(takesItem).toReversed();
    return (
      loops.length > 0 &&
      !bindTo(
        loops.filter(({ loop }) => loop.as === undefined),
        name,
        itemOf(name),
        work,
      )
    );
  });
}

function onceEach(references: readonly ReferenceSite[]): ReferenceSite[] {
  const first = new Map(references.toReversed().map((reference) => [reference.name, reference]));
  return references.filter((reference) => first.get(reference.name) === reference);
}

interface Work {
  names: Names;
  references: readonly ReferenceSite[];
  origins: Origins;
  read: ReferenceSite[];
}

/** `loops`: those whose item it may be, innermost first. */
function bindTo(loops: readonly ItemSite[], name: string, item: string, work: Work): boolean {
  const plurals = pluralsOf(item);
  const counting = loops.map((site) => ({ site, array: arrayOf(site, name) }));
  const isNamed = ({ array }: { array: CountedArray | undefined }): boolean =>
    array?.field !== undefined && plurals.includes(array.field);
  const named =
    counting.find(isNamed) ?? counting.find(({ site, array }) => site.loop.type === 'count' && array?.sure === true);
  const target = named ?? counting.find(({ site }) => site.loop.type === 'count') ?? counting[0];
  if (target === undefined) return false;
  const counted = named !== undefined || target.array?.sure === true ? target : undefined;
  const plural = counted === undefined ? arrayNamed(plurals, name, target.site, work) : undefined;
  const { site, array } =
    counted ?? (plural === undefined ? (counting.find((one) => one.array !== undefined) ?? target) : target);
  const over = plural ?? array?.over;
  if (over === undefined) return false;
  if (plural !== undefined)
    work.read.push(
      ...expressionReferences(over, work.origins.locate(site.loop, site.path, ['over']), site.place, site.owner),
    );
  site.loop.over = over;
  site.loop.as = name;
  work.origins.inferred.push(
    `${site.path}: $${name} is the item of ${over} in each pass ("over": ${JSON.stringify(over)}, "as": "${name}")`,
  );
  return true;
}

function arrayOf({ loop, place }: ItemSite, name: string): CountedArray | undefined {
  return loop.over === undefined
    ? countedArray(loop.max, name, place.definition)
    : { over: loop.over, field: undefined, sure: true };
}

function arrayNamed(
  plurals: readonly string[],
  item: string,
  target: ItemSite,
  { names, references }: Work,
): string | undefined {
  if (countsPickedItems(target.loop.max)) return undefined;
  const variable = plurals.find((plural) => isSet(plural, target.place.definition, names));
  if (variable !== undefined) return `$${variable}`;
  for (const { name, path } of references) {
    if (name === item || name === 'loop' || name === 'env') continue;
    if (plurals.includes(name) && !BRACE_ROOTS.has(name)) return `$${name}`;
    const at = path.findIndex((field) => plurals.includes(field));
    if (at !== -1)
      return `$${name}${path
        .slice(0, at + 1)
        .map(accessOf)
        .join('')}`;
  }
  return undefined;
}

const accessOf = (field: string): string => (/^\w+$/.test(field) ? `.${field}` : `[${JSON.stringify(field)}]`);

function itemOf(name: string): string {
  const item = /^current([A-Z]\w*)$/.exec(name)?.[1] ?? name;
  return item.charAt(0).toLowerCase() + item.slice(1);
}

function pluralsOf(one: string): string[] {
  return [`${one}s`, `${one}es`, ...(one.endsWith('y') ? [`${one.slice(0, -1)}ies`] : [])];
}

/** A fix is offered only where the array it names is there, and no other is counted. */
function unboundItem({ name, at, place: { definition, loops } }: ReferenceSite, names: Names): Problem {
  const picked = loops.some((site) => takesItem(site) && countsPickedItems(site.loop.max));
  const plural = picked ? undefined : pluralsOf(itemOf(name)).find((one) => isSet(one, definition, names));
  return {
    code: 'UNBOUND_ITEM',
    severity: 'error',
    path: at,
    message: `$${name} is the item of no array that is known; add "over" (the array) and "as" to the loop`,
    ...(plural === undefined ? {} : { fix: `add "over": "$${plural}", "as": "${name}" to the loop` }),
  };
}

/** Only a warning: what a name refers to is another file's, and may be given the variable otherwise. */
function unboundBelowItem({ name, at }: ReferenceSite): Problem {
  return {
    code: 'UNBOUND_ITEM',
    severity: 'warning',
    path: at,
    message: `the definition it refers to reads $${name}, the item of no array that is known here; add "over" (the array) and "as": "${name}" to the loop`,
  };
}

function unboundName({ loop, path }: ItemSite, name: string, origins: Origins): Problem {
  return {
    code: 'UNBOUND_ITEM',
    severity: 'error',
    path: origins.locate(loop, path, ['as']),
    message: `"as" names the item "${name}" of no array that is known; add "over" (the array) to the loop`,
  };
}
