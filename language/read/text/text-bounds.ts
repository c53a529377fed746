/**
 * Bounds that a text is held to before it is parsed: the platform's parser takes long over a million
 * brackets or values, all of which would be refused afterwards. What is refused here is past its bound
 * whatever follows; what is not JSON may pass.
 */
import { valueDepthMax, valuesMax } from '../../limits.ts';
import { endOfText } from '../../numbers/exact-json.ts';
import type { Problem } from '../../problems.ts';
import { placesIn } from './place.ts';

const QUOTE = 34;
const COMMA = 44;
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [91, 93, 123, 125] as const;

export function checkTextBounds(source: string): Problem | undefined {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === QUOTE) at = endOfText(source, at);
    else if (code === COMMA) commas += 1;
    else if (code === ARRAY || code === OBJECT) depth += 1;
    else if (code === ARRAY_END || code === OBJECT_END) depth -= 1;
    else continue;
    if (depth > valueDepthMax) {
      return problem(
        'TOO_DEEP',
        `${placesIn(source)(at)}: ${depth} brackets are open, and at most ${valueDepthMax} may be; move the inner steps into a definition of their own and refer to it by "$ref"`,
      );
    }
    if (commas > valuesMax)
      return problem(
        'TOO_LARGE',
        `the definition holds more than ${valuesMax} values; keep data in files or in the store`,
      );
  }
  return undefined;
}

function problem(code: 'TOO_DEEP' | 'TOO_LARGE', message: string): Problem {
  return { code, severity: 'error', path: '', message };
}
