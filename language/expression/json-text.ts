/** Text that holds JSON, read as the value it stands for. */
import type { Json } from '../json.ts';
import { stringLengthMax, valueDepthMax } from '../limits.ts';
import { exactJson, withoutMark, type Decimals } from '../numbers/exact-json.ts';
import type { Budget } from './budget.ts';

/** The object or array that a text holds; undefined for any other text and for one that is too long. */
export function parsedText(value: Json | undefined, budget: Budget): Json | undefined {
  if (typeof value !== 'string' || value.length > stringLengthMax || !/^\s{0,100}[[{]/.test(value)) return undefined;
  return budget.parsed(value, readJson);
}

/** What a program printed: any value that is JSON, numbers too, and else the text without space around it. */
export function parsedWhole(text: string, budget: Budget): Json {
  const trimmed = text.trim();
  return (trimmed.length > stringLengthMax ? undefined : budget.parsed(trimmed, readJson)) ?? trimmed;
}

/**
 * What is read of a field's owner on the way down a path: a text that is JSON is the value it stands for.
 * Outside braces the length of a text is its own, as its methods are.
 */
export function readable(
  value: Json | undefined,
  key: string | number,
  isBraced: boolean,
  budget: Budget,
): Json | undefined {
  return typeof value !== 'string' || (key === 'length' && !isBraced) ? value : (parsedText(value, budget) ?? value);
}

/** Numbers that would become other ones are texts. */
export function readJson(text: string, decimals?: Decimals): Json | undefined {
  const source = withoutMark(text);
  if (isTooDeep(source)) return undefined;
  try {
    return exactJson(source, decimals);
  } catch {
    return undefined;
  }
}

/** JSON that is not read for its depth. Every level takes two characters. */
export const isTooDeep = (text: string): boolean => text.length > 2 * valueDepthMax && isDeep(text);

/** Whether JSON text holds values nested deeper than `valueDepthMax`; brackets within strings do not count. */
export function isDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (isInString && sign === '\\') at += 1;
    else if (sign === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    if (depth > valueDepthMax) return true;
  }
  return false;
}
