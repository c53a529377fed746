/**
 * The identity of a JSON value: the SHA-256 of its canonical text (keys sorted by code unit, no
 * white space). Two values that say the same have one hash.
 */
import { createHash } from 'node:crypto';

export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const [key, member] of Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalText(member)}`);
  }
  return `{${members.join(',')}}`;
}

export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalText(value)).digest('hex');
}
