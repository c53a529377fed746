/**
 * Masks values in a stream as it comes. A value may be cut anywhere by the edge of a chunk: the end of
 * a chunk that may be the beginning of a value waits for the next one, and nothing else waits.
 */
import { replaced, type Found, type Masker } from '../../../language/masking/masker.ts';

/** What may be left out of a value (line ends, control sequences) has a bound here: more is not kept back. */
export const heldMax = 64 * 1024;

export class StreamMask {
  readonly #masker: Masker;
  #held: Buffer = Buffer.alloc(0);

  constructor(masker: Masker) {
    this.#masker = masker;
  }

  write(chunk: Buffer): Buffer {
    if (this.#masker.isEmpty) return chunk;
    return this.#advance(this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]), false);
  }

  /** Bytes that wait for more. */
  get held(): number {
    return this.#held.length;
  }

  /** What was waiting for more. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#advance(rest, true);
  }

  #advance(bytes: Buffer, isEnd: boolean): Buffer {
    if (bytes.length === 0) return bytes;
    const { found, openFrom } = this.#masker.findInPart(bytes, 0);
    const isLate = isEnd || bytes.length - openFrom > heldMax;
    const taken: Found[] = [];
    let [held, from] = [isLate ? bytes.length : openFrom, 0];
    for (const one of found) {
      // A longer value may begin before, and end in the next chunk.
      if (one.from >= held) break;
      taken.push(one);
      from = one.to;
      // What is open within a value that has been found is a part of that one.
      if (held < from) held = isLate ? bytes.length : this.#masker.findInPart(bytes, from).openFrom;
    }
    this.#held = Buffer.from(bytes.subarray(held));
    const shown = bytes.subarray(0, held);
    return taken.length === 0 ? shown : Buffer.from(replaced(shown, taken));
  }
}
