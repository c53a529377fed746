/** Where the variable of a process holds something else than what was printed: whoever reads it takes it for the whole. */
import { isTooDeep } from '../language/expression/json-text.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import { outputBytesMax, valueDepthMax } from '../language/limits.ts';
import { record, type Walk } from './walk-state.ts';

/** `readAs`: the variable, or the place or label, by which the definition reads the result. */
export function tellOfOutput(walk: Walk, key: string, readAs: string, value: Json | undefined): void {
  if (!isJsonObject(value)) return;
  const { truncated, stdout } = value;
  if (truncated === true)
    record(walk, {
      type: 'warning',
      key,
      code: 'OUTPUT_TRUNCATED',
      message: `${key}: "${readAs}" holds only the start and the end of what was printed (more than ${outputBytesMax} bytes), and its "data" is that text; have the program write to a file, and read that`,
    });
  else if (typeof stdout === 'string' && /^\s*[[{]/.test(stdout) && isTooDeep(stdout))
    record(walk, {
      type: 'warning',
      key,
      code: 'VALUE_TOO_LARGE',
      message: `${key}: "data" of "${readAs}" is a text: what was printed is nested deeper than ${valueDepthMax} levels; have the program print it flatter`,
    });
}
