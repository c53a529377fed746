/**
 * Whether a value is what JSON can say: code hands over values that `JSON.stringify` would change in silence
 * (to null, to `{}`, to nothing) or fail on without saying where.
 */
import { valueDepthMax, valuePartsMax } from './limits.ts';

export interface NotPlain {
  path: readonly string[];
  /** What stands there, and what to hand over instead. */
  finding: string;
  remedy: string;
}

interface Walk {
  path: string[];
  /** What the path leads through. */
  around: Set<object>;
  partsLeft: number;
}

/** The first part of a value that is no JSON; null where all is, as far as a value may go. */
export function notPlain(value: unknown): NotPlain | null {
  return visit(value, { path: [], around: new Set(), partsLeft: valuePartsMax });
}

/** As one sentence, which `place` begins. */
export function notPlainWords(value: unknown, place: string): string | null {
  const found = notPlain(value);
  if (found === null) return null;
  const { path, finding, remedy } = found;
  return `${place}${path.length === 0 ? '' : `: "${path.join('.')}"`} is ${finding}, which JSON cannot say; ${remedy}`;
}

function visit(value: unknown, walk: Walk): NotPlain | null {
  const [finding, remedy] = wordsOf(value) ?? [];
  if (finding !== undefined && remedy !== undefined) return { path: [...walk.path], finding, remedy };
  if (typeof value !== 'object' || value === null || saysItself(value)) return null;
  if (walk.around.has(value))
    return {
      path: [...walk.path],
      finding: 'a value that holds itself',
      remedy: 'hand over the parts that are needed',
    };
  // What is deeper or larger is refused for that.
  walk.partsLeft -= 1;
  if (walk.partsLeft < 0 || walk.around.size >= valueDepthMax) return null;
  walk.around.add(value);
  const found = Array.isArray(value) ? inList(value, walk) : inObject(value, walk);
  walk.around.delete(value);
  return found;
}

function inList(list: readonly unknown[], walk: Walk): NotPlain | null {
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    const found =
      item === undefined
        ? {
            path: [...walk.path, String(index)],
            finding: 'undefined in a list',
            remedy: 'leave it out, or hand over null',
          }
        : within(String(index), item, walk);
    if (found !== null) return found;
  }
  return null;
}

/** A field that is undefined is a field that is not there. */
function inObject(value: object, walk: Walk): NotPlain | null {
  for (const [key, item] of Object.entries(value)) {
    const found = item === undefined ? null : within(key, item, walk);
    if (found !== null) return found;
  }
  return null;
}

function within(key: string, value: unknown, walk: Walk): NotPlain | null {
  walk.path.push(key);
  const found = visit(value, walk);
  walk.path.pop();
  return found;
}

type Words = [finding: string, remedy: string];

/** What a value is that JSON has no word for; null for any other, and for what holds others. */
export function wordsOf(value: unknown): Words | null {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? null : [String(value), 'hand over null, or a text that says so'];
    case 'bigint':
      return [`the big integer ${value}`, 'hand it over as text: String(value)'];
    case 'function':
      return ['a function', 'hand over what it gives'];
    case 'symbol':
      return ['a symbol', 'hand over its text'];
    case 'object':
      return value === null || isPlain(value) || saysItself(value) ? null : instanceWords(value);
    case 'string':
    case 'boolean':
    case 'undefined':
    default:
      return null;
  }
}

/** A date and an address say themselves what they are in JSON; one that has nothing to say gives null. */
const saysItself = (value: object): boolean =>
  'toJSON' in value && typeof value.toJSON === 'function' && value.toJSON('') !== null;

/** Of whichever realm: a prototype that has none itself is that of plain objects. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null);
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['Map', 'hand over Object.fromEntries(map)'],
  ['Set', 'hand over [...set]'],
  ['Date', 'hand over a date that there is'],
  ['Promise', 'await it'],
  ['RegExp', 'hand over its source'],
  ['Error', 'hand over its message'],
]);

/** What the runtime made it, of whichever realm and under whichever name its class goes. */
function builtIn(value: object): string | null {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return REMEDIES.has(tag) ? tag : null;
}

function instanceWords(value: object): Words {
  const name = builtIn(value) ?? value.constructor.name;
  const article = /^[AEIOU]/.test(name) ? 'an' : 'a';
  return [
    name === 'Date' ? 'a date that does not exist' : `${article} ${name === '' ? 'class instance' : name}`,
    REMEDIES.get(name) ?? 'hand over its fields: {...value}',
  ];
}
