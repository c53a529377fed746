/** The definitions that names lead to, as far as they are there. */
import type { Definition } from '../../../language/model.ts';
import type { Store } from '../contract/contract.ts';
import type { Seeker } from '../contract/sentinel-contract.ts';

/** What `names` find, and what those name in turn, by name; a name that finds nothing is left out. */
export async function reachedDefinitions(
  names: readonly string[],
  find: (name: string) => Promise<Definition | undefined>,
  namedIn: (definition: Definition) => readonly string[],
): Promise<Map<string, Definition>> {
  const found = new Map<string, Definition>();
  const asked = new Set<string>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (asked.has(name)) continue;
    asked.add(name);
    const definition = await find(name);
    if (definition === undefined) continue;
    found.set(name, definition);
    waiting.push(...namedIn(definition));
  }
  return found;
}

/** What every `$ref` in a value that nobody has checked yet leads to among the stored ones, for who asks. */
export function referredDefinitions(
  store: Pick<Store, 'definitions'>,
  value: unknown,
  seeker?: Seeker,
): Promise<Map<string, Definition>> {
  return reachedDefinitions(
    refsWithin(value),
    async (name) => (await store.definitions.find(name, seeker))?.definition,
    ({ steps, always }) => refsWithin([steps, always]),
  );
}

function refsWithin(value: unknown): string[] {
  const names: string[] = [];
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    waiting.push(...Object.values(next));
    if ('$ref' in next && typeof next.$ref === 'string') names.push(next.$ref);
  }
  return names;
}
