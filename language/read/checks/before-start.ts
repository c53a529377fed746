/**
 * What is read before a run has begun: the name of its group, from the inputs, and the filter of its
 * trigger, from the event. No step has set anything by then.
 */
import { BUILT_INS } from '../../expression/scope.ts';
import { inputNames } from '../../inputs/declared-inputs.ts';
import { groupNameMax } from '../../limits.ts';
import type { Problem } from '../../problems.ts';
import { isTemplate } from '../../references/written-references.ts';
import { isPlain, type Origins } from '../draft/draft.ts';
import type { ReferenceSite } from '../inventory/collect-references.ts';
import type { Setters } from '../inventory/setters.ts';
import type { Sites } from '../inventory/sites.ts';
import { BRACE_ROOTS } from './references.ts';

export function checkBeforeStart(
  sites: Sites,
  references: readonly ReferenceSite[],
  setters: Setters,
  origins: Origins,
): Problem[] {
  return [
    ...references.flatMap((reference) => problemOf(reference, setters) ?? []),
    ...groupsOfNested(sites, origins),
    ...writtenOut(sites, origins),
  ];
}

/** The references that it speaks of, and those that others have spoken of. */
export function readTooEarly(
  references: readonly ReferenceSite[],
  setters: Setters,
  others: ReadonlySet<ReferenceSite>,
): ReadonlySet<ReferenceSite> {
  return new Set([...others, ...references.filter((reference) => problemOf(reference, setters) !== null)]);
}

function problemOf(reference: ReferenceSite, setters: Setters): Problem | null {
  const { trigger, concurrency } = reference.place.definition.value;
  if (reference.reader === trigger) return filterProblem(reference);
  return reference.reader === concurrency ? groupProblem(reference, setters) : null;
}

function filterProblem({ name, path: fields, at, written }: ReferenceSite): Problem | null {
  if (name === 'event') return null;
  const fix = `write "$event.${[name, ...fields].join('.')}"`;
  const message = `${written} has no value: a filter is read before there is a run, and sees "event" alone; ${fix}`;
  return { code: 'UNKNOWN_REFERENCE', severity: 'warning', path: at, message, fix };
}

const NOT_YET: ReadonlySet<string> = new Set(['iteration', ...BRACE_ROOTS]);

function groupProblem({ name, at, written, place }: ReferenceSite, setters: Setters): Problem | null {
  if (inputNames(place.definition.value).includes(name)) return null;
  const own = setters.onlySetters(name, place.definition);
  if (own.length === 0 && !NOT_YET.has(name)) return null;
  if (BUILT_INS.has(name) && !NOT_YET.has(name)) return null;
  const message = `${written} has no value yet: the group is read as the run starts, before any step; name an input`;
  return { code: 'USED_BEFORE_SET', severity: 'warning', path: at, message, fix: 'name an input' };
}

/** The run around it has the group, or none. */
function groupsOfNested(sites: Sites, origins: Origins): Problem[] {
  return sites.definitions.flatMap(({ value, path, parent }): Problem[] => {
    if (parent === undefined || !isPlain(value['concurrency'])) return [];
    const message =
      '"concurrency" has no effect: a nested run takes no group; write it in the definition around it, or remove it';
    return [
      {
        code: 'KEY_WITHOUT_EFFECT',
        severity: 'warning',
        path: origins.locate(value, path, ['concurrency']),
        message,
        fix: 'remove "concurrency"',
      },
    ];
  });
}

/** With references in it, the name is known as the run starts. */
function writtenOut(sites: Sites, origins: Origins): Problem[] {
  return sites.definitions.flatMap(({ value, path }): Problem[] => {
    const { concurrency } = value;
    if (!isPlain(concurrency)) return [];
    const { group } = concurrency;
    if (typeof group !== 'string' || group === '' || isTemplate(group)) return [];
    const { length } = group.trim();
    if (length > 0 && length <= groupNameMax) return [];
    const message =
      length === 0
        ? '"group" is blank; write at least one character'
        : `"group" has ${length} characters; at most ${groupNameMax} are allowed`;
    return [
      { code: 'OUT_OF_RANGE', severity: 'error', path: origins.locate(value, path, ['concurrency', 'group']), message },
    ];
  });
}
