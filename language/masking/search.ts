/** Many spellings looked for at once, in one pass over a text: its time does not depend on how many they are. */
import type { Alphabet, Spelling } from './spellings.ts';
import { endOf, type View } from './fold.ts';

export interface Wanted extends Spelling {
  /** Which of the secrets it is. */
  of: number;
}

export interface Hit {
  from: number;
  to: number;
  of: number;
}

const identity = (): Uint8Array => Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** What each byte is looked at as. */
const AS: Record<Alphabet, Uint8Array> = { plain: identity(), base64: identity(), hex: identity() };
/** What all alphabets have the same: the keys of the table. */
const ANY = identity();
AS.plain[0x2b] = 0x20;
AS.base64[0x2d] = 0x2b;
AS.base64[0x5f] = 0x2f;
ANY[0x2d] = 0x2b;
ANY[0x20] = 0x2b;
ANY[0x5f] = 0x2f;
for (let letter = 0x41; letter <= 0x5a; letter += 1) {
  AS.hex[letter] = letter + 0x20;
  ANY[letter] = letter + 0x20;
}

/** What is looked for has at least so many bytes. */
export const wantedLengthMin = 4;
const TABLE_BITS = 15;

const keyOf = (four: number): number => Math.imul(four, 0x9e_37_79_b1) >>> (32 - TABLE_BITS);

export class Search {
  readonly lengthMax: number;
  readonly #heads = new Uint16Array(1 << TABLE_BITS);
  readonly #buckets: Wanted[][] = [[]];
  readonly #byFirst: Wanted[][] = Array.from({ length: 256 }, () => []);

  /** Those that are longer are found first. */
  constructor(wanted: readonly Wanted[]) {
    const sorted = wanted
      .filter(({ bytes }) => bytes.length >= wantedLengthMin)
      .toSorted((a, b) => b.bytes.length - a.bytes.length);
    this.lengthMax = sorted[0]?.bytes.length ?? 0;
    for (const one of sorted) {
      const key = keyOf(fourAt(one.bytes, 0));
      if (this.#heads[key] === 0) this.#heads[key] = this.#buckets.push([]) - 1;
      this.#buckets[this.#heads[key] ?? 0]?.push(one);
      this.#byFirst[ANY[one.bytes[0] ?? 0] ?? 0]?.push(one);
    }
  }

  /** As it stands. */
  inText(bytes: Uint8Array, length: number, hit: (found: Hit) => void): void {
    this.#each(bytes, length, (one, from) => {
      hit({ from, to: from + one.bytes.length, of: one.of });
      return true;
    });
  }

  /** Where it stands in the source of the view. */
  inView(view: View, hit: (found: Hit) => void): void {
    this.#each(view.bytes, view.length, (one, from) => {
      if (!hasGapsAtMost(view, from, from + one.bytes.length, one.gapsMax)) return false;
      hit({ from: view.at[from] ?? 0, to: endOf(view, from + one.bytes.length - 1), of: one.of });
      return true;
    });
  }

  #each(bytes: Uint8Array, length: number, take: (one: Wanted, from: number) => boolean): void {
    if (length < wantedLengthMin) return;
    const heads = this.#heads;
    let four = fourAt(bytes, 0) >>> 8;
    for (let from = 0; from + wantedLengthMin <= length; from += 1) {
      four = (four << 8) | (ANY[bytes[from + 3] ?? 0] ?? 0);
      const head = heads[keyOf(four)] ?? 0;
      if (head === 0) continue;
      const found = this.#buckets[head]?.find((one) => isAt(one, bytes, from, length) && take(one, from));
      if (found === undefined) continue;
      from += found.bytes.length - 1;
      four = from + 1 + wantedLengthMin <= length ? fourAt(bytes, from + 1) >>> 8 : 0;
    }
  }

  /** Where the first end of a text begins that may be the beginning of something wanted; its length where none does. */
  openFrom(bytes: Uint8Array, length: number): number {
    for (let from = Math.max(0, length - this.lengthMax + 1); from < length; from += 1) {
      const candidates = this.#byFirst[ANY[bytes[from] ?? 0] ?? 0] ?? [];
      if (candidates.some((one) => one.bytes.length > length - from && isAt(one, bytes, from, length, length - from)))
        return from;
    }
    return length;
  }
}

function fourAt(bytes: Uint8Array, from: number): number {
  let four = 0;
  for (let index = from; index < from + 4; index += 1) four = (four << 8) | (ANY[bytes[index] ?? 0] ?? 0);
  return four;
}

function isAt(one: Wanted, bytes: Uint8Array, from: number, length: number, count = one.bytes.length): boolean {
  if (from + count > length) return false;
  const as = AS[one.alphabet];
  for (let index = 0; index < count; index += 1)
    if (as[bytes[from + index] ?? 0] !== as[one.bytes[index] ?? 0]) return false;
  return true;
}

function hasGapsAtMost(view: View, from: number, to: number, max: number): boolean {
  if (max === Number.POSITIVE_INFINITY) return true;
  let gaps = 0;
  for (let index = from; index + 1 < to; index += 1) {
    const next = view.at[index + 1] ?? 0;
    if (next !== view.at[index] && next !== endOf(view, index)) gaps += 1;
    if (gaps > max) return false;
  }
  return true;
}
