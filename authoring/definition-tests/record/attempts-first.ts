/** A pattern that says nothing of attempts and revisions fits all of them, so what is said of one has to stand before it. */
import type { Json, JsonObject } from '../../../language/json.ts';

export function attemptsFirst(entries: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries(entries.toSorted(([a], [b]) => marks(b) - marks(a)));
}

const marks = (key: string): number => key.split(/[#~]/).length;
