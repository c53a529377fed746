/** Base64 of bytes, and the part of it that says nothing but them. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The value of a letter, in both alphabets; -1 of any other byte. */
export const SIX_BITS = new Int8Array(256).fill(-1);
for (let value = 0; value < 64; value += 1) SIX_BITS[LETTERS.charCodeAt(value)] = value;
SIX_BITS['-'.charCodeAt(0)] = 62;
SIX_BITS['_'.charCodeAt(0)] = 63;

/**
 * Three bytes are four letters, so bytes look in three ways, by how many others stand before them: each without the
 * letters at its ends that those share in.
 */
export const inBase64 = (bytes: Uint8Array): string[] => [0, 1, 2].map((before) => lettersOf(bytes, before));

function lettersOf(bytes: Uint8Array, before: number): string {
  const padded = new Uint8Array(before + bytes.length + 2);
  padded.set(bytes, before);
  const [first, end] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)];
  let letters = '';
  for (let index = first; index < end; index += 1) {
    const bit = index * 6;
    const two = ((padded[bit >> 3] ?? 0) << 8) | (padded[(bit >> 3) + 1] ?? 0);
    letters += LETTERS[(two >> (10 - (bit & 7))) & 63] ?? '';
  }
  return letters;
}

/** The bytes that the letters from `from` to `to` say. */
export function fromBase64(source: Uint8Array, from: number, to: number, into: Uint8Array): number {
  let [bits, held, length] = [0, 0, 0];
  for (let index = from; index < to; index += 1) {
    held = ((held << 6) | (SIX_BITS[source[index] ?? 0] ?? 0)) & 0xff_ff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    into[length] = (held >> bits) & 0xff;
    length += 1;
  }
  return length;
}
