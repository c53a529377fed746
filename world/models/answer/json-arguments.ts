/** The arguments of a call, as a model wrote them: text that may be cut, or be no JSON at all. */
import { isDeep } from '../../../language/expression/json-text.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { valueDepthMax } from '../../../language/limits.ts';
import { exactJson } from '../../../language/numbers/exact-json.ts';

export type Arguments =
  | { state: 'read'; input: JsonObject }
  /** The text ends inside a value. */
  | { state: 'cut'; text: string }
  | { state: 'invalid'; text: string };

/** What is told of arguments that nothing of ours reads: they would be too deep for it to say them again. */
const TOO_DEEP: Arguments = { state: 'invalid', text: `arguments nested more than ${valueDepthMax} deep` };
/** Texts within texts. */
const wrappingsMax = 3;

/** Arguments that came as a value. */
export const readInput = (value: unknown): Arguments => readArguments(JSON.stringify(value));

export function readArguments(text: string, wrapped = 0): Arguments {
  if (text.trim() === '') return { state: 'read', input: {} };
  if (isDeep(text)) return isCut(text) ? { state: 'cut', text } : TOO_DEEP;
  try {
    const value = exactJson(text, 'nearest');
    // Some models write the object once more as a text.
    if (typeof value === 'string' && wrapped < wrappingsMax && isWrapped(value.trim()))
      return readArguments(value, wrapped + 1);
    if (isNone(value)) return { state: 'read', input: {} };
    return isJsonObject(value) ? { state: 'read', input: value } : { state: 'invalid', text };
  } catch {
    return isCut(text) ? { state: 'cut', text } : { state: 'invalid', text };
  }
}

const isWrapped = (text: string): boolean => text === '' || text === 'null' || text === '[]' || text.startsWith('{');

/** Some have no object without names in it. */
const isNone = (value: Json): boolean => value === null || (Array.isArray(value) && value.length === 0);

/** True when a text opens more than it closes. */
function isCut(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  }
  return inString || depth > 0;
}
