/**
 * Takes one layer of writing off a text, with where each byte of what is left stands in it: escapes of JSON, shells and
 * programs (`\/`, `\u00e9`, `\x41`, `\101`), of addresses (`%2F`) and of HTML (`&amp;`) are decoded; quotes, line ends,
 * control sequences of terminals and characters without width are left out. One pass, whatever the text.
 *
 * Two texts that are the same but for how they are written end as the same bytes, when both are folded until nothing
 * changes. Different texts may, too: what is found here is held against where it stands (search.ts).
 */

export interface View {
  bytes: Uint8Array;
  /** How many of `bytes` count. */
  length: number;
  /** Of each byte, where what it was written as begins in the source. */
  at: Int32Array;
  source: Uint8Array;
  sourceLength: number;
  /** There may be another layer below: a decoded byte begins an escape itself, or something that was left out stood in one. */
  isLayered: boolean;
  /** Where an escape begins that the source breaks off in; else `sourceLength`. */
  brokenAt: number;
}

const ORDINARY = 0;
const LEFT_OUT = 1;
const BACKSLASH = 2;
const PERCENT = 3;
const AMPERSAND = 4;
const ESCAPE = 5;
const WIDTHLESS = 6;

const KIND = new Uint8Array(256);
for (const char of '\n\r\'"\0') KIND[char.charCodeAt(0)] = LEFT_OUT;
KIND[0x5c] = BACKSLASH;
KIND[0x25] = PERCENT;
KIND[0x26] = AMPERSAND;
KIND[0x1b] = ESCAPE;
for (const lead of [0xc2, 0xe2, 0xef]) KIND[lead] = WIDTHLESS;

const HEX = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit += 1) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/** What is decoded is at most four bytes. */
const out = new Uint8Array(4);
/**
 * Of the last unit read: how many bytes it has in the source, and how many of `out`. Broken: it needs more source.
 * None: it begins like an escape, and is none.
 */
const unit = { length: 0, bytes: 0, isBroken: false, isNone: false };

export function fold(source: Uint8Array, sourceLength: number, into?: View): View {
  const fits = into !== undefined && into.bytes.length >= sourceLength;
  const bytes = fits ? into.bytes : new Uint8Array(sourceLength);
  const at = fits ? into.at : new Int32Array(sourceLength);
  let [length, from, brokenAt] = [0, 0, sourceLength];
  let [isLayered, hasLeftOut, hasNone] = [false, false, false];
  while (from < sourceLength) {
    const byte = source[from] ?? 0;
    if (KIND[byte] === ORDINARY) {
      bytes[length] = byte;
      at[length] = from;
      length += 1;
      from += 1;
      continue;
    }
    read(source, from, sourceLength);
    if (unit.isBroken && brokenAt === sourceLength) brokenAt = from;
    if (unit.bytes === 0) hasLeftOut = true;
    if (unit.isNone) hasNone = true;
    if (unit.length > 1 && beginsUnit()) isLayered = true;
    for (let index = 0; index < unit.bytes; index += 1) {
      bytes[length] = out[index] ?? 0;
      at[length] = from;
      length += 1;
    }
    from += unit.length;
  }
  isLayered ||= hasLeftOut && hasNone;
  return { bytes, length, at, source, sourceLength, isLayered, brokenAt };
}

/** Whether what was decoded is to be read again. */
function beginsUnit(): boolean {
  if (unit.bytes === 0) return false;
  const kind = KIND[out[0] ?? 0];
  return kind === WIDTHLESS ? widthlessLength(out, 0, unit.bytes) > 0 : kind !== ORDINARY;
}

/** Where what a byte was written as ends in the source. */
export function endOf(view: View, index: number): number {
  const from = view.at[index] ?? 0;
  if (KIND[view.source[from] ?? 0] === ORDINARY) return from + 1;
  read(view.source, from, view.sourceLength);
  return from + unit.length;
}

function read(source: Uint8Array, from: number, end: number): void {
  unit.isBroken = false;
  unit.isNone = false;
  switch (KIND[source[from] ?? 0] ?? ORDINARY) {
    case LEFT_OUT:
      return skip(1);
    case BACKSLASH:
      return readBackslash(source, from, end);
    case PERCENT:
      return readPercent(source, from, end);
    case AMPERSAND:
      return readEntity(source, from, end);
    case ESCAPE:
      return readControl(source, from, end);
    default:
      return readWidthless(source, from, end);
  }
}

function skip(length: number): void {
  unit.length = length;
  unit.bytes = 0;
}

function give(length: number, byte: number): void {
  unit.length = length;
  unit.bytes = 1;
  out[0] = byte;
}

/** It begins like an escape, and is none. */
function keep(byte: number): void {
  give(1, byte);
  unit.isNone = true;
}

/** It may be the beginning of an escape; if nothing follows it is what it is. */
function breakOff(source: Uint8Array, from: number): void {
  give(1, source[from] ?? 0);
  unit.isBroken = true;
}

/** As UTF-8. */
function giveCharacter(length: number, code: number): void {
  unit.length = length;
  if (code < 0x80) return give(length, code);
  if (code < 0x8_00) {
    unit.bytes = 2;
    out[0] = 0xc0 | (code >> 6);
  } else if (code < 0x1_00_00) {
    unit.bytes = 3;
    out[0] = 0xe0 | (code >> 12);
  } else {
    unit.bytes = 4;
    out[0] = 0xf0 | ((code >> 18) & 7);
  }
  for (let index = 1; index < unit.bytes; index += 1)
    out[index] = 0x80 | ((code >> (6 * (unit.bytes - 1 - index))) & 63);
}

/** The number that so many hexadecimal digits say; -1 where they are others, -2 where the source ends in them. */
function hexAt(source: Uint8Array, from: number, count: number, end: number): number {
  let value = 0;
  for (let index = 0; index < count; index += 1) {
    if (from + index >= end) return -2;
    const digit = HEX[source[from + index] ?? 0] ?? -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

const SIMPLE: { [letter: number]: number } = { 0x74: 9, 0x62: 8, 0x66: 12, 0x76: 11, 0x61: 7, 0x65: 27 };

function readBackslash(source: Uint8Array, from: number, end: number): void {
  if (from + 1 >= end) {
    skip(1);
    unit.isBroken = true;
    return;
  }
  const next = source[from + 1] ?? 0;
  const simple = SIMPLE[next];
  if (simple !== undefined) return give(2, simple);
  switch (next) {
    // n, r, a line end, quotes: what they stand for is left out.
    case 0x6e:
    case 0x72:
    case 0x0a:
    case 0x0d:
    case 0x22:
    case 0x27:
      return skip(2);
    case 0x5c:
      return readTwo(source, from, end);
    case 0x75:
      return readUnicode(source, from, end);
    case 0x55:
      return readFixed(source, from, 8, end);
    case 0x78:
      return readByte(source, from, hexAt(source, from + 2, 2, end), 4);
    // In UTF-16, or in colours, what it escapes comes behind them.
    case 0x00:
    case 0x1b:
    case 0xe2:
      return keep(0x5c);
    default:
      return next >= 0x30 && next <= 0x37 ? readOctal(source, from, end) : skip(1);
  }
}

/** A backslash; or in JSON, with the line end behind it, how a line of a program goes on. */
function readTwo(source: Uint8Array, from: number, end: number): void {
  if (source[from + 2] === 0x5c && source[from + 3] === 0x6e && from + 3 < end) return skip(4);
  give(2, 0x5c);
  unit.isBroken = from + 2 >= end || (source[from + 2] === 0x5c && from + 3 >= end);
}

function readByte(source: Uint8Array, from: number, byte: number, length: number): void {
  if (byte === -2) return breakOff(source, from);
  if (byte < 0) return keep(source[from] ?? 0);
  give(length, byte);
}

function readFixed(source: Uint8Array, from: number, digits: number, end: number): void {
  const code = hexAt(source, from + 2, digits, end);
  if (code === -2) return breakOff(source, from);
  if (code < 0 || code > 0x10_ff_ff) return keep(0x5c);
  giveCharacter(2 + digits, code);
}

function readUnicode(source: Uint8Array, from: number, end: number): void {
  if (source[from + 2] === 0x7b) return readBraced(source, from, end);
  const high = hexAt(source, from + 2, 4, end);
  if (high < 0xd8_00 || high > 0xdb_ff) return readFixed(source, from, 4, end);
  if (from + 6 >= end) return breakOff(source, from);
  const isPair = source[from + 6] === 0x5c && (from + 7 >= end || source[from + 7] === 0x75);
  const low = isPair ? hexAt(source, from + 8, 4, end) : -1;
  if (low === -2) return breakOff(source, from);
  if (low < 0xdc_00 || low > 0xdf_ff) return giveCharacter(6, high);
  giveCharacter(12, 0x1_00_00 + (high - 0xd8_00) * 0x4_00 + (low - 0xdc_00));
}

function readBraced(source: Uint8Array, from: number, end: number): void {
  let digits = 0;
  while (digits < 7 && from + 3 + digits < end && (HEX[source[from + 3 + digits] ?? 0] ?? -1) >= 0) digits += 1;
  if (from + 3 + digits >= end) return breakOff(source, from);
  const code = hexAt(source, from + 3, digits, end);
  if (source[from + 3 + digits] !== 0x7d || digits === 0 || code > 0x10_ff_ff) return keep(0x5c);
  giveCharacter(4 + digits, code);
}

function readOctal(source: Uint8Array, from: number, end: number): void {
  let [value, digits] = [0, 0];
  for (; digits < 3 && from + 1 + digits < end; digits += 1) {
    const digit = (source[from + 1 + digits] ?? 0) - 0x30;
    if (digit < 0 || digit > 7) break;
    value = value * 8 + digit;
  }
  give(1 + digits, value & 0xff);
  if (digits < 3 && from + 1 + digits >= end) unit.isBroken = true;
}

function readPercent(source: Uint8Array, from: number, end: number): void {
  if (source[from + 1] !== 0x75) return readByte(source, from, hexAt(source, from + 1, 2, end), 3);
  const code = hexAt(source, from + 2, 4, end);
  if (code === -2) return breakOff(source, from);
  if (code < 0) return keep(0x25);
  giveCharacter(6, code);
}

const nameLengthMax = 9;
const NAMED = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    sol: '/',
    bsol: '\\',
    plus: '+',
    equals: '=',
    percnt: '%',
    num: '#',
    dollar: '$',
    commat: '@',
    excl: '!',
    quest: '?',
    colon: ':',
    semi: ';',
    comma: ',',
    period: '.',
    lpar: '(',
    rpar: ')',
    lsqb: '[',
    lbrack: '[',
    rsqb: ']',
    rbrack: ']',
    lcub: '{',
    lbrace: '{',
    rcub: '}',
    rbrace: '}',
    ast: '*',
    midast: '*',
    lowbar: '_',
    Hat: '^',
    grave: '`',
    vert: '|',
    verbar: '|',
    hyphen: '-',
    dash: '-',
    tilde: '~',
    Tab: '\t',
    NewLine: '\n',
    eacute: 'é',
    uuml: 'ü',
    auml: 'ä',
    ouml: 'ö',
    szlig: 'ß',
  }),
);

function readEntity(source: Uint8Array, from: number, end: number): void {
  let [name, index] = ['', from + 1];
  for (; index < end && name.length <= nameLengthMax && isNamePart(source[index] ?? 0); index += 1)
    name += String.fromCharCode(source[index] ?? 0);
  if (index >= end && name.length <= nameLengthMax) return breakOff(source, from);
  const code = source[index] === 0x3b ? entityOf(name) : null;
  if (code === null) return keep(0x26);
  giveCharacter(index + 1 - from, code);
}

const isNamePart = (byte: number): boolean =>
  byte === 0x23 || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

function entityOf(name: string): number | null {
  const number = /^#(?:[xX]([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
  if (number === null) return NAMED.get(name)?.codePointAt(0) ?? null;
  const code = number[1] === undefined ? Number(number[2]) : Number.parseInt(number[1], 16);
  return code <= 0x10_ff_ff ? code : null;
}

const controlLengthMax = 4_096;

function readControl(source: Uint8Array, from: number, end: number): void {
  const kind = source[from + 1] ?? 0;
  const isText = kind === 0x5d || kind === 0x50 || kind === 0x5e || kind === 0x5f;
  let index = from + (kind === 0x5b || isText ? 2 : 1);
  const stop = Math.min(end, from + controlLengthMax);
  while (index < stop && !(isText ? endsText(source, index) : endsSequence(source[index] ?? 0))) index += 1;
  skip(Math.min(index + (isText && source[index] === 0x1b ? 2 : 1), stop) - from);
  unit.isBroken = index >= end || (isText && source[index] === 0x1b && index + 1 >= end);
}

const endsSequence = (byte: number): boolean => byte < 0x20 || byte > 0x3f;

const endsText = (source: Uint8Array, index: number): boolean => source[index] === 0x07 || source[index] === 0x1b;

function readWidthless(source: Uint8Array, from: number, end: number): void {
  const length = widthlessLength(source, from, end);
  if (length > 0) return skip(length);
  give(1, source[from] ?? 0);
  unit.isBroken = from + (source[from] === 0xc2 ? 1 : 2) >= end;
}

/** How many bytes one has: U+00AD, U+200B to U+200F, U+202A to U+202E, U+2060 to U+2064, U+FEFF; 0 of any other. */
function widthlessLength(source: Uint8Array, from: number, end: number): number {
  const [lead = 0, second = 0, third = 0] = [source[from], source[from + 1], source[from + 2]];
  if (lead === 0xc2 && second === 0xad) return from + 1 < end ? 2 : 0;
  if (from + 2 >= end) return 0;
  const isOne =
    (lead === 0xef && second === 0xbb && third === 0xbf) ||
    (lead === 0xe2 && second === 0x80 && ((third >= 0x8b && third <= 0x8f) || (third >= 0xaa && third <= 0xae))) ||
    (lead === 0xe2 && second === 0x81 && third >= 0xa0 && third <= 0xa4);
  return isOne ? 3 : 0;
}
