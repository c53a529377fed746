/** How deep values are nested. What recurses over a value is never handed one deeper than `valueDepthMax`. */
import type { Json } from '../json.ts';
import { valueDepthMax } from '../limits.ts';

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

/** Whether a value is nested deeper than `levels`. */
export function isDeeper(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}
