/** What of a context, or of a long text, a model is not shown. */

/** A part of a context that was not even considered, and why. */
export interface LeftOut {
  name: string;
  why: string;
}

/** What stands in the middle of a text that is cut; a text of ours that models read (activities/turns/prompts/prompts.ts). */
export const cutWords = ({ left, whole }: { left: number; whole: number }): string =>
  `[… ${left} of ${whole} characters are left out here; ask for less to see them …]`;

/** Beginning and end of a long text, of which one mostly holds what matters. `max` in characters, besides the words between. */
export function shortenedText(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n${cutWords({ left, whole: text.length })}\n${text.slice(-half)}`.replaceAll(
    /\p{Surrogate}/gu,
    '\uFFFD',
  );
}
