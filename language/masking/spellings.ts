/** How a secret is written where whole programs encode what they are given: what is looked for beside the secret itself. */
import { inBase64 } from './base64.ts';
import { fold } from './fold.ts';

/** Which letters count as the same. */
export type Alphabet = 'plain' | 'base64' | 'hex';

export interface Spelling {
  bytes: Uint8Array;
  alphabet: Alphabet;
  /** How many line ends, quotes and the like may stand between its bytes; shorter texts occur by chance. */
  gapsMax: number;
}

/** Shorter ones are looked for as they are, and in no encoding. */
export const encodedLengthMin = 8;
/** Text of this length does not occur by chance, whatever stands between its letters. */
const unmistakableLength = 16;
const gapsInShort = 2;
const foldsMax = 4;
/** What is longer is looked for in one encoding in a stream; whole texts are decoded (encoded.ts). */
const twiceLengthMax = 4_096;

const encoder = new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** Longest first. */
export function spellingsOf(value: string, isSecret: boolean): Spelling[] {
  const forms = [...new Set([value, value.normalize('NFC'), value.normalize('NFD')])];
  const plain = [...forms.map(bytesOf), ...forms.flatMap(latin)];
  const spellings = [
    ...plain.flatMap((bytes) => folded(bytes)),
    // What is left out between two of its bytes is a byte of its own.
    ...forms.flatMap(wide).flatMap((bytes) => folded(bytes, bytes.length / 2)),
  ];
  if (isSecret && value.length >= encodedLengthMin) {
    spellings.push(...linesOf(value).flatMap((line) => folded(bytesOf(line))));
    spellings.push(...encoded([...plain, ...forms.flatMap(escaped).map(bytesOf), ...forms.flatMap(wide)]));
  }
  const known = new Map(
    spellings.toReversed().map((spelling) => [`${spelling.alphabet} ${spelling.bytes.join()}`, spelling]),
  );
  return [...known.values()].toSorted((a, b) => b.bytes.length - a.bytes.length);
}

/** As it is, and with every layer of writing off that it seems to have. */
function folded(bytes: Uint8Array, wholeLength = bytes.length): Spelling[] {
  const all = [bytes];
  for (let count = 0; count < foldsMax; count += 1) {
    const before = all.at(-1) ?? bytes;
    const view = fold(before, before.length);
    const after = view.bytes.slice(0, view.length);
    if (after.length < 4 || isSame(after, before)) break;
    all.push(after);
  }
  return all.map((form): Spelling => ({ bytes: form, alphabet: 'plain', gapsMax: gapsOf(form.length, wholeLength) }));
}

/** What was left out of the secret itself may be left out where it stands. */
function gapsOf(length: number, wholeLength: number): number {
  if (length >= unmistakableLength) return Number.POSITIVE_INFINITY;
  const own = 2 * Math.max(0, wholeLength - length);
  return length < encodedLengthMin ? own : own + gapsInShort;
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

/** A key of several lines is shown line by line by what searches or numbers them. */
function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1
    ? []
    : lines.filter((line) => line.length >= 2 * encodedLengthMin && !line.startsWith('-----'));
}

/** A byte for each character, where that can be. */
function latin(value: string): Uint8Array[] {
  const codes = Array.from(value, (char) => char.codePointAt(0) ?? 0);
  return codes.some((code) => code > 0x7f) && codes.every((code) => code <= 0xff) ? [Uint8Array.from(codes)] : [];
}

/** Two bytes for each character, in the order of both kinds of machines. */
function wide(value: string): Uint8Array[] {
  const orders = [new Uint8Array(2 * value.length), new Uint8Array(2 * value.length)] as const;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    for (const [at, bytes] of orders.entries()) {
      bytes[2 * index + at] = code & 0xff;
      bytes[2 * index + 1 - at] = code >> 8;
    }
  }
  return [...orders];
}

/** As it is, in JSON and in addresses. */
export const writtenPlainly = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  inAddress(value),
];

const escaped = (value: string): string[] =>
  writtenPlainly(value).flatMap((written) => [written, written.replaceAll('/', String.raw`\/`)]);

/** Half a character has no place in an address. */
function inAddress(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Once and twice. */
function encoded(all: readonly Uint8Array[]): Spelling[] {
  const once = [...new Map(all.map((bytes) => [bytes.join(), bytes])).values()].flatMap(spelled);
  const isLong = all.some(({ length }) => length > twiceLengthMax);
  return isLong ? once : [...once, ...once.flatMap(({ bytes, alphabet }) => casesOf(bytes, alphabet).flatMap(spelled))];
}

function spelled(bytes: Uint8Array): Spelling[] {
  const gaps = { gapsMax: Number.POSITIVE_INFINITY };
  return [
    ...inBase64(bytes).map((text): Spelling => ({ bytes: bytesOf(text), alphabet: 'base64', ...gaps })),
    { bytes: bytesOf(inHex(bytes)), alphabet: 'hex', ...gaps },
  ];
}

const inHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The ways to write what is encoded again. */
function casesOf(bytes: Uint8Array, alphabet: Alphabet): Uint8Array[] {
  const text = String.fromCharCode(...bytes);
  const other = alphabet === 'hex' ? text.toUpperCase() : text.replaceAll('+', '-').replaceAll('/', '_');
  return other === text ? [bytes] : [bytes, bytesOf(other)];
}
