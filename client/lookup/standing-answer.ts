/** The answer that a question has, for whoever comes second. */
import type { Answer } from '../../language/events/question.ts';

/** Who answered what, and when. */
export function standingText({ handle, id, answer }: { handle: string; id: string; answer: Answer }): string {
  const { choice, by, at, note } = answer;
  const why = note === null ? '' : ` (${note})`;
  return `${id} of ${handle} was answered before: ${choice} by ${by} at ${new Date(at).toISOString()}${why}`;
}
