/** The arguments of a call, as a model wrote them: text that may be cut, or be no JSON at all. */
import { isDeep } from '../../../language/expression/nesting.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { valueDepthMax } from '../../../language/limits.ts';

export type Arguments =
  | { state: 'read'; input: JsonObject }
  /** The text ends inside a value. */
  | { state: 'cut' }
  | { state: 'invalid'; text: string };

/** What is told of arguments that nothing of ours reads: they would be too deep for it to say them again. */
const TOO_DEEP: Arguments = { state: 'invalid', text: `arguments nested more than ${valueDepthMax} deep` };
/** Texts within texts. */
const wrappingsMax = 3;

/** Arguments that came as a value. */
export function readInput(value: unknown): Arguments {
  const text = JSON.stringify(value);
  return readArguments(text);
}

export function readArguments(text: string, wrapped = 0): Arguments {
  if (text.trim() === '') return { state: 'read', input: {} };
  if (isDeep(text)) return isCut(text) ? { state: 'cut' } : TOO_DEEP;
  try {
    const value = JSON.parse(text) as Json;
    // Some models write the object once more as a text.
    if (typeof value === 'string' && wrapped < wrappingsMax && value.trim().startsWith('{'))
      return readArguments(value, wrapped + 1);
    return isJsonObject(value) ? { state: 'read', input: value } : { state: 'invalid', text };
  } catch {
    return isCut(text) ? { state: 'cut' } : { state: 'invalid', text };
  }
}

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
