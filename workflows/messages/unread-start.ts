/**
 * A start that no reader of ours has read: by an older program, or by somebody with a client of Temporal and the key.
 * What only the reader understands (a condition, another spelling, a default) would be passed over, and what is no
 * definition at all would fail the workflow task again and again. So the run ends at once, before its first step.
 *
 * Only the form is looked at, by the schema that each reading ends with: it grows, and takes what it took before.
 */
import { depthFault, isJsonObject, type Json } from '../../language/json.ts';
import { Definition } from '../../language/model.ts';
import { listed } from '../../language/read/remedies/problems-in-words.ts';
import type { StartInput } from './start-input.ts';

/** All that is wrong, as half a sentence; null where the form is that of what a reader gives. */
export function unreadFault(start: unknown): string | null {
  if (!isJsonObject(start)) return 'it is no object with a definition';
  const { definition, library, inputs, catalogue, project, persona } = start;
  const faults: string[] = [];
  if (typeof project !== 'string') faults.push('"project" is no text');
  // What is empty is left out of a start.
  if (typeof (persona ?? '') !== 'string') faults.push('"persona" is no text');
  for (const [name, value] of Object.entries({ library, inputs, catalogue }))
    if (value !== undefined && !isJsonObject(value)) faults.push(`"${name}" is no object`);
  faults.push(...formFaults('definition', definition));
  for (const [name, one] of Object.entries(isJsonObject(library) ? library : {}))
    faults.push(...formFaults(`library.${name}`, one));
  return faults.length === 0 ? null : listed(faults);
}

function formFaults(place: string, one: Json | undefined): string[] {
  if (one === undefined) return [`"${place}" is missing`];
  const deep = depthFault(one, place);
  if (deep !== null) return [deep.message];
  const { issues = [] } = Definition.safeParse(one).error ?? {};
  return issues.map((issue) => `${[place, ...issue.path].map(String).join('.')}: ${issue.message}`);
}

/** What such a run is recorded as: nothing of it is done. */
export function standInFor(start: unknown): StartInput {
  const given = isJsonObject(start) ? start : {};
  const { definition = null, project = '', persona = '' } = given;
  const name = isJsonObject(definition) && typeof definition['name'] === 'string' ? definition['name'] : '';
  return {
    definition: { name: name.slice(0, 100) || 'unread', steps: [], loop: { type: 'once' } },
    project: typeof project === 'string' ? project : '',
    persona: typeof persona === 'string' ? persona : '',
  };
}
