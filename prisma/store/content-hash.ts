/** The identity of a JSON value: two values that say the same have one hash. */
import { createHash } from 'node:crypto';
import { canonicalText } from '../../language/canonical.ts';

export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalText(value)).digest('hex');
}
