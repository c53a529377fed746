/**
 * To which call a piece of one belongs, and what that call is named. Servers number, name and repeat pieces each in a way
 * of their own: a piece is of the call with its id, else of the one at its index, else of the call under way; and a name
 * that comes with further arguments, where those before are whole, is another call under whatever id.
 */
import { isJsonObject, type JsonObject } from '../../../language/json.ts';
import { textOf } from '../http/fields.ts';
import type { WireNames } from '../request/wire-names.ts';

/** A name of more pieces is none. */
const nameLengthMax = 512;

export interface CallDelta {
  id?: unknown;
  index?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
  /** Gemini's, and those of gateways in front of it: the signature without which it refuses the next turn. */
  extra_content?: unknown;
  provider_specific_fields?: unknown;
}

export interface PlacedPiece {
  key: string;
  id: string;
  /** As far as it has come. */
  name: string;
  arguments: unknown;
  beside?: JsonObject;
}

interface Call {
  key: string;
  id: string;
  name: string;
  text: string;
  nesting: Nesting;
}

interface Piece {
  id: string;
  index: number | null;
  name: string;
  text: string;
}

export class CallPieces {
  readonly #names: Pick<WireNames, 'offers'>;
  readonly #byId = new Map<string, Call>();
  readonly #byIndex = new Map<number, Call>();
  #current: Call | undefined;
  #count = 0;

  constructor(names: Pick<WireNames, 'offers'>) {
    this.#names = names;
  }

  /** Null: the piece says again what was said. */
  place(delta: CallDelta): PlacedPiece | null {
    const { id, index, function: called } = delta;
    const given = called?.arguments ?? '';
    const piece = {
      id: textOf(id),
      index: typeof index === 'number' ? index : null,
      name: textOf(called?.name),
      text: typeof given === 'string' ? given : JSON.stringify(given),
    };
    const known = this.#callOf(piece);
    if (known !== undefined && isSaidAgain(known, piece)) return null;
    const call = known === undefined || isAnother(known, piece) ? this.#begin() : known;
    if (call.id === '') call.id = piece.id;
    call.name = this.#joined(call.name, piece.name);
    call.text += piece.text;
    call.nesting.read(piece.text);
    if (piece.id !== '') this.#byId.set(piece.id, call);
    if (piece.index !== null) this.#byIndex.set(piece.index, call);
    this.#current = call;
    return { key: call.key, id: call.id, name: call.name, arguments: given, ...besideIn(delta) };
  }

  #begin(): Call {
    this.#count += 1;
    return { key: `call ${this.#count}`, id: '', name: '', text: '', nesting: new Nesting() };
  }

  #callOf({ id, index, name }: Piece): Call | undefined {
    const at = index === null ? undefined : this.#byIndex.get(index);
    if (id !== '') {
      const withId = this.#byId.get(id);
      // One id at two places, each of them named, are two calls.
      if (withId !== undefined) return index !== null && at === undefined && name !== '' ? undefined : (at ?? withId);
      // A new id under an old index is a new call, since some servers count nothing; unless that one has none yet.
      return at?.id === '' ? at : undefined;
    }
    if (index !== null) return at;
    const call = this.#current;
    if (call === undefined || name === '' || this.#continues(call, name)) return call;
    return undefined;
  }

  /** A name without id and index begins a call, unless it is the rest of a name, or said with each piece. */
  #continues(call: Call, name: string): boolean {
    const joined = `${call.name}${name}`;
    if (call.text === '') return !this.#names.offers(call.name) && this.#names.offers(joined);
    return name === call.name && !isWhole(call);
  }

  /** Of pieces of a name, of a name that is said again with each piece, and of one that grows. */
  #joined(before: string, piece: string): string {
    if (before === '' || piece === '') return before + piece;
    const joined = `${before}${piece}`;
    if (this.#names.offers(joined)) return joined;
    if (this.#names.offers(before) || piece === before || joined.length > nameLengthMax) return before;
    return piece.startsWith(before) ? piece : joined;
  }
}

function besideIn({ extra_content, provider_specific_fields }: CallDelta): Pick<PlacedPiece, 'beside'> {
  const found = Object.entries({ extra_content, provider_specific_fields }).filter(
    (entry): entry is [string, JsonObject] => isJsonObject(entry[1]),
  );
  return found.length === 0 ? {} : { beside: Object.fromEntries(found) };
}

const isSaidAgain = (call: Call, piece: Piece): boolean =>
  piece.name === call.name && piece.text === call.text && piece.text.trim() !== '' && isWhole(call);

const isAnother = (call: Call, { name, text }: Piece): boolean => name !== '' && text.trim() !== '' && isWhole(call);

/** Whether the brackets of a text are closed, piece by piece: a text that is read whole with each piece takes its square. */
class Nesting {
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** It was closed once: what comes then belongs to nothing. */
  #isOver = false;
  isClosed = false;

  read(piece: string): void {
    for (const character of piece) this.#take(character);
  }

  #take(character: string): void {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isText = false;
      return;
    }
    const step = STEPS.get(character) ?? 0;
    if (this.#isOver) this.isClosed &&= character.trim() === '';
    else if (character === '"') this.#isText = true;
    this.#depth += step;
    if (step >= 0 || this.#depth !== 0 || this.#isOver) return;
    this.#isOver = true;
    this.isClosed = true;
  }
}

const STEPS: ReadonlyMap<string, number> = new Map([
  ['{', 1],
  ['[', 1],
  ['}', -1],
  [']', -1],
]);

function isWhole({ text, nesting }: Call): boolean {
  if (!nesting.isClosed || !text.startsWith('{') || !text.endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
