/** Bytes to text without breaking characters, and text that Postgres accepts. */

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** A character has at most three continuation bytes; more is not UTF-8, and any cut is as good. */
export const CONTINUATIONS_MAX = 3;

/** The first position at or after `at` that does not lie inside a character. */
export function nextBoundary(bytes: Uint8Array, at: number): number {
  let position = at;
  while (position - at < CONTINUATIONS_MAX && isContinuation(bytes[position])) position += 1;
  return position;
}

/**
 * How much of `chunk` still belongs to a head that wants `left` more bytes (negative once it has
 * begun to finish the character that its end fell into).
 */
export function headCut(chunk: Uint8Array, left: number): number {
  const boundary = nextBoundary(chunk, Math.min(chunk.length, Math.max(0, left)));
  return Math.min(boundary, Math.max(0, left + CONTINUATIONS_MAX));
}

/** The first `length` characters, or one less where that would cut one that takes two. */
export function cutText(text: string, length: number): string {
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length);
}

/** Postgres has no NUL in text; it becomes the replacement character. */
export function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
