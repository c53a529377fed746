/**
 * A vector of a text without a model: each word, and each three letters of a word, adds to the dimension that its hash
 * names (feature hashing). Texts that share words or parts of words are close; one that says the same in other words is not.
 */

export const EMBEDDING = 'hashing';
export const DIMENSIONS = 256;

const WORD = /[\p{L}\p{N}]+/gu;
/** What a part of a word adds, beside the 1 of a word. */
const PART = 0.4;

export function vectorOf(text: string): number[] {
  const vector = new Float64Array(DIMENSIONS);
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    const marked = `^${word}$`;
    for (let at = 0; at + 3 <= marked.length; at += 1) {
      const part = `#${marked.slice(at, at + 3)}`;
      counts.set(part, (counts.get(part) ?? 0) + PART);
    }
  }
  for (const [feature, count] of counts) {
    const hash = hashOf(feature);
    const at = hash % DIMENSIONS;
    // The hundredth time says little that the first did not.
    vector[at] = (vector[at] ?? 0) + (hash & 0x80_00_00 ? 1 : -1) * Math.log1p(count);
  }
  const length = Math.hypot(...vector);
  return Array.from(vector, (value) => (length === 0 ? 0 : value / length));
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93) >>> 0;
  // The low bits of FNV mix less than the high ones.
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** As Postgres reads `bit(256)`. */
export const signsOf = (vector: readonly number[]): string => vector.map((value) => (value > 0 ? '1' : '0')).join('');

/** Of vectors of length 1; what points away is as far as what has nothing in common. */
export function closeness(one: readonly number[], other: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return Math.min(1, Math.max(0, sum));
}
