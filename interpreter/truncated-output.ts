/** Of a long output the result of a process holds the start and the end: whoever reads it takes it for the whole. */
import { isJsonObject, type Json } from '../language/json.ts';
import { outputBytesMax } from '../language/limits.ts';
import { record, type Walk } from './walk-state.ts';

/** `readAs`: the variable, or the place or label, by which the definition reads the result. */
export function tellOfTruncated(walk: Walk, key: string, readAs: string, value: Json | undefined): void {
  if (!isJsonObject(value) || value['truncated'] !== true) return;
  record(walk, {
    type: 'warning',
    key,
    code: 'OUTPUT_TRUNCATED',
    message: `${key}: "${readAs}" holds only the start and the end of what was printed (more than ${outputBytesMax} bytes), and its "data" is that text; have the program write to a file, and read that`,
  });
}
