import { cutResult } from '../prompts/cut-result.ts';

/** Beginning and end of a text, of which one mostly holds what matters. */
export function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const half = Math.floor(lengthMax / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n${cutResult.render({ left, whole: text.length })}\n${text.slice(-half)}`.replaceAll(
    /\p{Surrogate}/gu,
    '\uFFFD',
  );
}
