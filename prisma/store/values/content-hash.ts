/** The identity of a JSON value: two values that say the same have one hash. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { canonicalText } from '../../../language/canonical.ts';

const KNOWN_CHARACTERS_MAX = 4 * 1024 * 1024;

/** By JSON text: each start of a run asks for the hash of its definition, and most start one that was started before. */
const known = new LRUCache<string, string>({
  maxSize: KNOWN_CHARACTERS_MAX,
  sizeCalculation: (_hash, text) => text.length,
});

export function contentHash(value: object): string {
  const text = JSON.stringify(value);
  const found = known.get(text);
  if (found !== undefined) return found;
  const hash = createHash('sha256').update(canonicalText(value)).digest('hex');
  known.set(text, hash);
  return hash;
}
