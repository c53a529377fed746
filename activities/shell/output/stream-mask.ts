/**
 * Masks values in a stream as it comes. A value may be cut anywhere by the edge of a chunk: the end of
 * a chunk that may be the beginning of a value waits for the next one, and nothing else waits.
 */
import type { Mask } from '../../../language/secrets.ts';

interface Pattern {
  bytes: Buffer;
  shown: Buffer;
}

export class StreamMask {
  readonly #patterns: Pattern[];
  #held: Buffer = Buffer.alloc(0);

  constructor(masks: readonly Mask[]) {
    this.#patterns = masks.map(({ text, shown }) => ({ bytes: Buffer.from(text), shown: Buffer.from(shown) }));
  }

  write(chunk: Buffer): Buffer {
    if (this.#patterns.length === 0) return chunk;
    return this.#advance(this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]), false);
  }

  /** What was waiting for more. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#advance(rest, true);
  }

  #advance(bytes: Buffer, isEnd: boolean): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    for (;;) {
      const held = isEnd ? bytes.length : this.#firstOpen(bytes, from);
      const next = this.#firstMatch(bytes, from);
      // A longer value may begin before, and end in the next chunk.
      if (next === null || next.at >= held) {
        parts.push(bytes.subarray(from, held));
        this.#held = Buffer.from(bytes.subarray(held));
        return parts.length === 1 ? (parts[0] ?? bytes) : Buffer.concat(parts);
      }
      parts.push(bytes.subarray(from, next.at), next.pattern.shown);
      from = next.at + next.pattern.bytes.length;
    }
  }

  /** The earliest value, and of those at one place the longest: patterns come longest first. */
  #firstMatch(bytes: Buffer, from: number): { at: number; pattern: Pattern } | null {
    let first: { at: number; pattern: Pattern } | null = null;
    for (const pattern of this.#patterns) {
      const at = bytes.indexOf(pattern.bytes, from);
      if (at !== -1 && (first === null || at < first.at)) first = { at, pattern };
    }
    return first;
  }

  /** Where the earliest end begins that may be the beginning of a value. */
  #firstOpen(bytes: Buffer, from: number): number {
    let first = bytes.length;
    for (const { bytes: wanted } of this.#patterns) {
      for (let at = Math.max(from, bytes.length - wanted.length + 1); at < first; at += 1) {
        if (bytes[at] === wanted[0] && bytes.subarray(at).equals(wanted.subarray(0, bytes.length - at))) {
          first = at;
          break;
        }
      }
    }
    return first;
  }
}
