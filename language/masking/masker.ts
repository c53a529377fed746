/**
 * Takes secrets out of texts. What is looked for is the secret and not its spelling: a text is read in every layer of
 * writing that it may have (fold.ts), in what is encoded within it (encoded.ts), and in what encoders make of a secret
 * (spellings.ts). Where nothing is found the text is given back as it came.
 *
 * The time is linear in the text, and does not depend on how many secrets there are.
 */
import { EncodedStretches } from './encoded.ts';
import { endOf, fold, type View } from './fold.ts';
import { Search, wantedLengthMin, type Hit } from './search.ts';
import { spellingsOf, writtenPlainly, type Spelling } from './spellings.ts';

export interface Hidden {
  text: string;
  /** What stands in its place. */
  shown: string;
  /** The same where it is written in another way than in JSON and addresses; absent: `shown`. */
  shownEncoded?: string;
  /** Is looked for in encodings, too. */
  isSecret: boolean;
}

export interface Found {
  from: number;
  to: number;
  shown: string;
}

/** Layers of escapes on each other: of JSON in JSON in an address, and one that the secret seems to have. */
const layersMax = 4;
/** Encodings in encodings. */
const encodingsMax = 2;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class Masker {
  readonly hidden: readonly Hidden[];
  readonly #search: Search;
  readonly #hasSecrets: boolean;
  readonly #hasWide: boolean;
  readonly #lengthMin: number;
  /** By how many encodings may be in what they find. */
  readonly #stretches: EncodedStretches[] = [];

  constructor(hidden: readonly Hidden[], spellings: (hidden: Hidden) => readonly Spelling[] = plainly) {
    this.hidden = hidden;
    const wanted = hidden.flatMap((one, of) => spellings(one).map((spelling) => ({ ...spelling, of })));
    this.#search = new Search(wanted);
    this.#hasSecrets = hidden.some(({ isSecret }) => isSecret);
    this.#hasWide = wanted.some(({ bytes, alphabet }) => alphabet === 'plain' && bytes.some((byte) => byte > 0x7f));
    this.#lengthMin = Math.min(...wanted.map(({ bytes }) => bytes.length));
  }

  get isEmpty(): boolean {
    return this.#search.lengthMax === 0;
  }

  text(text: string): string {
    // Each byte of a text is at most a character of it, but in UTF-16 a character may be three bytes.
    if (this.isEmpty || 3 * text.length < this.#lengthMin) return text;
    const bytes = encoder.encode(text);
    const found = this.find(bytes);
    return found.length === 0 ? text : decoder.decode(replaced(bytes, found));
  }

  /** Every text in a value, keys included. */
  json<Value>(value: Value): Value {
    return this.isEmpty ? value : (this.#in(value) as Value);
  }

  #in(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.#in(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.#in(item)]));
  }

  /** In order, and apart from each other. */
  find(bytes: Uint8Array): Found[] {
    const hits: Hit[] = [];
    this.#look(bytes, bytes.length, encodingsMax, (hit) => hits.push(hit));
    return this.#apart(bytes, hits);
  }

  /** Of a text that goes on: what is in it, and from where on it may be a part of something. */
  findInPart(bytes: Uint8Array, from: number): { found: Found[]; openFrom: number } {
    const part = from === 0 ? bytes : bytes.subarray(from);
    const hits: Hit[] = [];
    const views = this.#views(part, part.length, withoutBroken);
    this.#inViews(part, part.length, views, (hit) => hits.push(hit));
    return {
      found: this.#apart(part, hits).map((found) => ({ ...found, from: found.from + from, to: found.to + from })),
      openFrom: from + this.#openFrom(part, views),
    };
  }

  #look(bytes: Uint8Array, length: number, encodings: number, hit: (found: Hit) => void): void {
    if (length < wantedLengthMin) return;
    const views = this.#views(bytes, length, undefined, encodings === encodingsMax ? rooms : []);
    this.#inViews(bytes, length, views, hit);
    if (isQuotedPrintable(bytes, length)) this.#inQuoted(bytes, length, hit);
    if (!this.#hasSecrets || encodings === 0) return;
    const stretches = this.#stretchesAt(encodings);
    const last = views.at(-1);
    if (last === undefined) return stretches.search(bytes, length, hit);
    stretches.search(last.bytes, last.length, (found) => hit(inSource(views, views.length - 1, found)));
  }

  #stretchesAt(encodings: number): EncodedStretches {
    this.#stretches[encodings] ??= new EncodedStretches(this.#hasWide, (inner, found) =>
      this.#look(inner, inner.length, encodings - 1, found),
    );
    return this.#stretches[encodings];
  }

  #views(
    bytes: Uint8Array,
    length: number,
    seen = (view: View): View => view,
    into: (View | undefined)[] = [],
  ): View[] {
    const views = [seen(folded(bytes, length, into, 0))];
    for (let last = views[0]; last?.isLayered === true && views.length < layersMax; last = views.at(-1))
      views.push(seen(folded(last.bytes, last.length, into, views.length)));
    return views;
  }

  #inViews(bytes: Uint8Array, length: number, views: readonly View[], hit: (found: Hit) => void): void {
    this.#search.inText(bytes, length, hit);
    for (const [index, view] of views.entries())
      this.#search.inView(view, (found) => hit(inSource(views, index - 1, found)));
  }

  #inQuoted(bytes: Uint8Array, length: number, hit: (found: Hit) => void): void {
    const { text, at } = fromQuotedPrintable(bytes, length);
    this.#inViews(text, text.length, this.#views(text, text.length), (found) =>
      hit({ from: at[found.from] ?? 0, to: at[found.to] ?? length, of: found.of }),
    );
  }

  #openFrom(bytes: Uint8Array, views: readonly View[]): number {
    let open = this.#search.openFrom(bytes, bytes.length);
    for (const [index, view] of views.entries()) {
      const inView = this.#search.openFrom(view.bytes, view.length);
      const begun = inView === view.length ? view.sourceLength : (view.at[inView] ?? 0);
      open = Math.min(open, startIn(views, index - 1, Math.min(begun, view.brokenAt), bytes.length));
    }
    // An escape is not cut.
    for (const index of views.keys()) open = Math.min(open, wholeBefore(views, index, open));
    return open;
  }

  #apart(bytes: Uint8Array, hits: readonly Hit[]): Found[] {
    const found: Found[] = [];
    for (const { from, to, of } of hits.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
      const last = found.at(-1);
      if (last === undefined || from >= last.to)
        found.push({ from, to, shown: shownFor(this.hidden[of], bytes.subarray(from, to)) });
      else last.to = Math.max(last.to, to);
    }
    return found;
  }
}

function shownFor(hidden: Hidden | undefined, bytes: Uint8Array): string {
  if (hidden === undefined) return '';
  const { text, shown, shownEncoded = shown } = hidden;
  return shownEncoded === shown || writtenPlainly(text).includes(decoder.decode(bytes)) ? shown : shownEncoded;
}

/** Kept from text to text: to make room for a large one takes as long as to read it. */
const rooms: (View | undefined)[] = [];
const roomMax = 4 * 1024 * 1024;
const roomMin = 64 * 1024;

function folded(bytes: Uint8Array, length: number, into: (View | undefined)[], layer: number): View {
  if (into !== rooms || length < roomMin) return fold(bytes, length);
  const view = fold(bytes, length, into[layer]);
  if (length <= roomMax) into[layer] = view;
  return view;
}

const plainly = ({ text, isSecret }: Hidden): Spelling[] => spellingsOf(text, isSecret);

/** An escape that breaks off is nothing yet. */
function withoutBroken(view: View): View {
  let { length } = view;
  while (length > 0 && (view.at[length - 1] ?? 0) >= view.brokenAt) length -= 1;
  return { ...view, length };
}

export const nothingHidden = new Masker([]);

/** What was found in the source of `views[index + 1]`, in the text below all views. */
function inSource(views: readonly View[], index: number, found: Hit): Hit {
  let { from, to } = found;
  for (let at = index; at >= 0; at -= 1) {
    const view = views[at];
    if (view === undefined) break;
    [from, to] = [view.at[from] ?? 0, endOf(view, to - 1)];
  }
  return { from, to, of: found.of };
}

/** Where in the text below all views a place of the source of `views[index + 1]` begins. */
function startIn(views: readonly View[], index: number, place: number, length: number): number {
  let from = place;
  for (let at = index; at >= 0; at -= 1) {
    const view = views[at];
    if (view === undefined) break;
    from = from >= view.length ? view.sourceLength : (view.at[from] ?? 0);
  }
  return Math.min(from, length);
}

/** The last place at or before one in the text where a byte of the view begins. */
function wholeBefore(views: readonly View[], index: number, place: number): number {
  let [low, high] = [0, views[index]?.length ?? 0];
  const startOf = (byte: number): number => startIn(views, index, byte, Number.POSITIVE_INFINITY);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startOf(middle) <= place) low = middle;
    else high = middle - 1;
  }
  const start = startOf(low);
  return start <= place && !isLeftOut(views, index, low, place) ? start : place;
}

/** Whether what is written at the place is nothing of the view: it ended before. */
function isLeftOut(views: readonly View[], index: number, byte: number, place: number): boolean {
  const view = views[index];
  if (view === undefined || byte >= view.length) return true;
  return inSource(views, index, { from: byte, to: byte + 1, of: 0 }).to <= place;
}

export function replaced(bytes: Uint8Array, found: readonly Found[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { from: begin, to, shown } of found) {
    parts.push(bytes.subarray(from, begin), encoder.encode(shown));
    from = to;
  }
  parts.push(bytes.subarray(from));
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const isHexDigit = (byte = 0): boolean => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46);

/** `=3D`, `=C3`, or a line that ends in `=`, as mails have them. */
function isQuotedPrintable(bytes: Uint8Array, length: number): boolean {
  for (let at = bytes.indexOf(0x3d); at >= 0 && at < length; at = bytes.indexOf(0x3d, at + 1))
    if (quotedLength(bytes, at) > 1) return true;
  return false;
}

function quotedLength(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] === 0x0a) return 2;
  if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return 3;
  return isHexDigit(bytes[at + 1]) && isHexDigit(bytes[at + 2]) ? 3 : 1;
}

function fromQuotedPrintable(bytes: Uint8Array, end: number): { text: Uint8Array; at: Int32Array } {
  const text = new Uint8Array(end);
  const at = new Int32Array(end + 1);
  let length = 0;
  for (let from = 0; from < end;) {
    const size = bytes[from] === 0x3d ? quotedLength(bytes, from) : 1;
    at[length] = from;
    if (size === 1) text[length] = bytes[from] ?? 0;
    else if (isHexDigit(bytes[from + 1]))
      text[length] = Number.parseInt(String.fromCharCode(bytes[from + 1] ?? 0, bytes[from + 2] ?? 0), 16);
    if (size === 1 || isHexDigit(bytes[from + 1])) length += 1;
    from += size;
  }
  at[length] = end;
  return { text: text.subarray(0, length), at };
}
