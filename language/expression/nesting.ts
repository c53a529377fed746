/** How deep the values of a JSON text are nested, before it is read. */
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
