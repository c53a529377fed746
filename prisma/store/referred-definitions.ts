/** The stored definitions that a program refers to, as far as they are there. */
import type { Definition } from '../../language/model.ts';
import type { Store } from './contract.ts';

/** What every `$ref` in a value that nobody has checked yet names, and what those refer to in turn. */
export async function referredDefinitions(store: Pick<Store, 'definitions'>, value: unknown): Promise<Map<string, Definition>> {
  const found = new Map<string, Definition>();
  const asked = new Set<string>();
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    waiting.push(...Object.values(next));
    const name: unknown = '$ref' in next ? next.$ref : undefined;
    if (typeof name !== 'string' || asked.has(name)) continue;
    asked.add(name);
    const stored = (await store.definitions.find(name))?.definition;
    if (stored === undefined) continue;
    found.set(name, stored);
    waiting.push(stored.steps, stored.always);
  }
  return found;
}
