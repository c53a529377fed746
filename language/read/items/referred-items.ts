/**
 * Current items that definitions behind a `$ref` read without setting them: a nested run sees the variables
 * around it, so they are items of the loop that the reference stands in, as if it stood there itself.
 */
import type { Catalogue } from '../../catalogue.ts';
import { isReferredLater } from '../../references/written-references.ts';
import { isBound, isSet, namesSet, type Names } from '../checks/references.ts';
import type { KnownRefs } from '../checks/nesting.ts';
import { collectReferences, type ReferenceSite } from '../inventory/collect-references.ts';
import { Origins } from '../draft/draft.ts';
import { collectSites, takesItem, type Sites, type StepSite } from '../inventory/sites.ts';

interface Known {
  catalogue: Catalogue;
  knownRefs: KnownRefs;
}

export function referredItems(sites: Sites, origins: Origins, known: Known): ReferenceSite[] {
  const read = new Map<string, ReferenceSite[]>();
  return sites.steps.flatMap((site) => {
    const { step, path, place } = site;
    const name = place.loops.length === 0 ? undefined : referredBy(site, known.knownRefs);
    if (step.type !== 'sentinel' || name === undefined) return [];
    const items = read.get(name) ?? itemsOf(name, known);
    read.set(name, items);
    const at = origins.locate(step, path, ['definition', '$ref']);
    const given = Object.keys(step.inputs ?? {});
    return items.filter((item) => !given.includes(item.name)).map((item) => ({ ...item, at, place, reader: step }));
  });
}

function referredBy({ step }: StepSite, knownRefs: KnownRefs): string | undefined {
  if (step.type !== 'sentinel' || !('$ref' in step.definition) || typeof step.definition.$ref !== 'string')
    return undefined;
  const { $ref } = step.definition;
  return isReferredLater($ref, (name) => knownRefs(name) !== undefined) ? undefined : $ref;
}

function itemsOf(name: string, { catalogue, knownRefs }: Known): ReferenceSite[] {
  const definition = knownRefs(name);
  if (definition === undefined) return [];
  const origins = new Origins();
  const sites = collectSites(definition, origins, [], catalogue);
  const names = namesSet(sites);
  // What a loop of its own may bind is its own matter.
  const { references } = collectReferences(sites, origins, {
    catalogue,
    isDefinition: (one) => knownRefs(one) !== undefined,
  });
  return references.filter((one) => isUnsetItem(one, names) && !one.place.loops.some(takesItem));
}

/** Called as a current item is, and neither set nor bound. */
export function isUnsetItem(reference: ReferenceSite, names: Names): boolean {
  const { name, place } = reference;
  return /^current[A-Z]/.test(name) && !isSet(name, place.definition, names) && !isBound(name, reference);
}
