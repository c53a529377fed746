/**
 * What is shown at once of a body that is too large for the data of an event: its small parts, the first members of its
 * lists, and where something was left out. The whole is kept beside it.
 */
import { isJsonObject, type Json } from '../../language/json.ts';

const PART_BYTES_MAX = 16 * 1024;
const OUTLINE_BYTES_MAX = 128 * 1024;
const DEPTH_MAX = 4;
const LIST_MAX = 20;
const LEFT_OUT_MAX = 100;

export interface Outline {
  shown: Json | undefined;
  /** JSON Pointers of what is not shown, or not whole. */
  leftOut: string[];
}

/** The value is nested no deeper than a run can hold. */
export function outlineOf(value: Json): Outline {
  const outline = { left: OUTLINE_BYTES_MAX, leftOut: [] as string[] };
  const shown = part(value, '', 0, outline);
  return { shown, leftOut: outline.leftOut };
}

interface Outlining {
  left: number;
  leftOut: string[];
}

function part(value: Json, pointer: string, depth: number, outline: Outlining): Json | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= Math.min(PART_BYTES_MAX, outline.left)) {
    outline.left -= bytes;
    return value;
  }
  if (outline.leftOut.length < LEFT_OUT_MAX) outline.leftOut.push(pointer);
  if (depth === DEPTH_MAX || outline.left <= 0) return undefined;
  if (Array.isArray(value))
    return value.slice(0, LIST_MAX).flatMap((item, at) => {
      const shown = part(item, `${pointer}/${at}`, depth + 1, outline);
      return shown === undefined ? [] : [shown];
    });
  if (!isJsonObject(value)) return undefined;
  const shown: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    const inner = part(member, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1, outline);
    if (inner !== undefined)
      Object.defineProperty(shown, key, { value: inner, enumerable: true, configurable: true, writable: true });
  }
  return shown;
}
