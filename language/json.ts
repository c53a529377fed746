/** Values a run can hold: exactly what JSON can say, up to the bounds in limits.ts. */
import { valueBytesMax, valueDepthMax, valuePartsMax } from './limits.ts';
import { notPlainWords } from './plain-json.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined where nothing is. */
export function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const key of path) {
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** The path that a JSON Pointer names, such as `/properties/a` (RFC 6901). */
export const pathOfPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Of a problem, of a failure, and of what a client is told. */
export const VALUE_FAULT = 'VALUE_TOO_LARGE';
export const NOT_JSON_FAULT = 'VALUE_NOT_JSON';

export interface ValueFault {
  code: typeof VALUE_FAULT | typeof NOT_JSON_FAULT;
  /** One sentence: place, finding, remedy. */
  message: string;
}

/** Whether objects and arrays stand inside one another more than `levels` deep. */
export const isDeeper = (value: unknown, levels: number): boolean => shapeFault(value, levels) !== null;

function shapeFault(value: unknown, levels: number): 'deep' | 'large' | null {
  let level = [value].filter(isNested);
  let parts = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    parts += level.length;
    if (depth === levels) return 'deep';
    if (parts > valuePartsMax) return 'large';
    level = level.flatMap((part) => Object.values(part).filter(isNested));
  }
  return null;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What a door leaves of the bounds: levels that will be put around the value, and bytes that it may have. */
export interface Room {
  around?: number;
  bytesMax?: number;
}

/**
 * Why a run cannot hold the value for its depth: everything that walks over a value may count on
 * `valueDepthMax`. `place` begins the sentence.
 */
export function depthFault(value: unknown, place: string, { around = 0 }: Room = {}): ValueFault | null {
  const levels = valueDepthMax - around;
  const fault = shapeFault(value, levels);
  if (fault === null) return null;
  const message =
    fault === 'deep'
      ? `${place} is nested deeper than ${levels} levels; make it flatter, or hand it over as text`
      : `${place} holds more than ${valuePartsMax} objects and lists; take less of it`;
  return { code: VALUE_FAULT, message };
}

/** Why a run cannot hold the value, for what it is, its depth or its size as JSON; null where it can. */
export function valueFault(value: unknown, place: string, room: Room = {}): ValueFault | null {
  return plainFault(value, place) ?? depthFault(value, place, room) ?? sizeFault(value, place, room);
}

function plainFault(value: unknown, place: string): ValueFault | null {
  const message = notPlainWords(value, place);
  return message === null ? null : { code: NOT_JSON_FAULT, message };
}

function sizeFault(value: unknown, place: string, { bytesMax = valueBytesMax }: Room = {}): ValueFault | null {
  const text = JSON.stringify(value) ?? '';
  if (text.length * utf8BytesMax <= bytesMax) return null;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= bytesMax) return null;
  const message = `${place} has ${bytes} bytes as JSON, and at most ${bytesMax} are taken; take less of it, or keep it in a file and hand over its path`;
  return { code: VALUE_FAULT, message };
}

/** Of one UTF-16 unit. */
const utf8BytesMax = 3;

/** The first fault of several values, `placeOf` the name of each; or of all of them together. */
export function faultOfValues(values: JsonObject, placeOf: (name: string) => string): ValueFault | null {
  for (const [name, value] of Object.entries(values)) {
    const fault = valueFault(value, placeOf(name));
    if (fault !== null) return fault;
  }
  const names = Object.keys(values);
  return names.length < 2 ? null : sizeFault(values, names.map(placeOf).join(' and '));
}

/** What continue-as-new and the way to a segment do to a value. */
export const throughJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
