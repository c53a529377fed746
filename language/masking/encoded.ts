/**
 * What whole stretches of a text say in base64 or hexadecimal, and in what they say again: decoded, and looked at like
 * the text itself. Most of what looks like it says nothing, and is dropped where no stretch of it can be read.
 */
import { fromBase64, SIX_BITS } from './base64.ts';
import type { Hit } from './search.ts';

/** Shorter ones are found by how a secret is spelled in them. */
const lettersMin = 14;
const digitsMin = 16;
const roomMax = 64 * 1024;
/** What is looked for in encodings has at least so many bytes. */
const readableMin = 8;

/** Where each byte of a stretch is written. */
interface Decoded {
  bytes: Uint8Array;
  from: (index: number) => number;
  to: (index: number) => number;
}

const HEX_DIGIT = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit += 1) {
  HEX_DIGIT[digit.toString(16).charCodeAt(0)] = digit;
  HEX_DIGIT[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}
/** Between the digits of two bytes, as programs print them. */
const SEPARATOR = new Uint8Array(256);
for (const char of ' :,;-\t') SEPARATOR[char.charCodeAt(0)] = 1;

const READABLE = new Uint8Array(256);
READABLE.fill(1, 0x20, 0x7f);
for (const char of '\0\u0007\t\n\r\u001b') READABLE[char.charCodeAt(0)] = 1;

export class EncodedStretches {
  readonly #isReadable: Uint8Array;
  readonly #room = new Uint8Array(roomMax);
  #isLooking = false;
  readonly #look: (bytes: Uint8Array, hit: (found: Hit) => void) => void;

  /** `hasWide`: what is looked for may have bytes that are no ASCII. */
  constructor(hasWide: boolean, look: (bytes: Uint8Array, hit: (found: Hit) => void) => void) {
    this.#isReadable = READABLE.slice();
    if (hasWide) this.#isReadable.fill(1, 0x80);
    this.#look = look;
  }

  search(text: Uint8Array, length: number, hit: (found: Hit) => void): void {
    for (let from = 0; from < length; from += 1) {
      if ((SIX_BITS[text[from] ?? 0] ?? -1) < 0) continue;
      let to = from + 1;
      while (to < length && (SIX_BITS[text[to] ?? 0] ?? -1) >= 0) to += 1;
      if (to - from >= lettersMin) this.#inLetters(text, from, to, hit);
      from = to;
    }
    this.#inDigits(text, length, hit);
  }

  #inLetters(text: Uint8Array, from: number, to: number, hit: (found: Hit) => void): void {
    const most = Math.ceil(((to - from) * 3) / 4);
    // Most stretches are words, and say nothing: what is decoded of them is written over by the next.
    const room = this.#isLooking || most > roomMax ? new Uint8Array(most) : this.#room;
    for (let before = 0; before < 4; before += 1) {
      const first = from + before;
      const length = fromBase64(text, first, to, room);
      if (!this.#hasReadable(room, length)) continue;
      this.#inDecoded(
        {
          bytes: room.subarray(0, length),
          from: (index) => first + Math.floor((index * 8) / 6),
          to: (index) => first + Math.floor((index * 8 + 7) / 6) + 1,
        },
        hit,
      );
    }
  }

  #hasReadable(bytes: Uint8Array, length: number): boolean {
    let count = 0;
    for (let index = 0; index < length; index += 1) {
      count = this.#isReadable[bytes[index] ?? 0] === 1 ? count + 1 : 0;
      if (count === readableMin) return true;
    }
    return false;
  }

  #inDigits(text: Uint8Array, length: number, hit: (found: Hit) => void): void {
    let [start, digits, separators] = [-1, 0, 0];
    for (let index = 0; index <= length; index += 1) {
      const byte = index < length ? (text[index] ?? 0) : 0;
      if ((HEX_DIGIT[byte] ?? -1) >= 0) {
        if (byte === 0x30 && isX(text[index + 1])) {
          index += 1;
          continue;
        }
        if (start < 0) start = index;
        digits += 1;
        separators = 0;
      } else if (start >= 0) {
        separators += 1;
        if (SEPARATOR[byte] === 1 && separators <= 2) continue;
        if (digits >= digitsMin) this.#inPlaces(text, placesOf(text, start, index, digits), hit);
        [start, digits, separators] = [-1, 0, 0];
      }
    }
  }

  #inPlaces(text: Uint8Array, places: Int32Array, hit: (found: Hit) => void): void {
    const digit = (index: number): number => HEX_DIGIT[text[places[index] ?? 0] ?? 0] ?? 0;
    for (const odd of [0, 1]) {
      const bytes = new Uint8Array((places.length - odd) >> 1);
      for (let index = 0; index < bytes.length; index += 1)
        bytes[index] = digit(odd + 2 * index) * 16 + digit(odd + 2 * index + 1);
      this.#inDecoded(
        {
          bytes,
          from: (index) => places[odd + 2 * index] ?? 0,
          to: (index) => (places[odd + 2 * index + 1] ?? 0) + 1,
        },
        hit,
      );
    }
  }

  #inDecoded({ bytes, from, to }: Decoded, hit: (found: Hit) => void): void {
    const isReadable = this.#isReadable;
    for (let start = 0; start < bytes.length; start += 1) {
      if (isReadable[bytes[start] ?? 0] === 0) continue;
      let end = start + 1;
      while (end < bytes.length && isReadable[bytes[end] ?? 0] === 1) end += 1;
      const first = start;
      if (end - start >= readableMin) {
        this.#isLooking = true;
        this.#look(bytes.subarray(start, end), (found) =>
          hit({ from: from(first + found.from), to: to(first + found.to - 1), of: found.of }),
        );
        this.#isLooking = false;
      }
      start = end;
    }
  }
}

/** Where the digits are, without the separators and the 0x between them. */
function placesOf(text: Uint8Array, start: number, end: number, digits: number): Int32Array {
  const places = new Int32Array(digits);
  let count = 0;
  for (let index = start; index < end; index += 1) {
    if ((HEX_DIGIT[text[index] ?? 0] ?? -1) < 0) continue;
    if (text[index] === 0x30 && isX(text[index + 1])) continue;
    places[count] = index;
    count += 1;
  }
  return places;
}

const isX = (byte: number | undefined): boolean => byte === 0x78 || byte === 0x58;
