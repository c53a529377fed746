/**
 * The last lines that a step wrote to stderr, where it failed or its process ended non-zero; of a long line its beginning
 * and its end: the whole of it is for `logs`.
 */
import type { FollowedEvent } from '../../client/follow/follow-run.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { exitCodeOf } from '../../client/show/trace.ts';

const LINES_MAX = 10;
const LINE_CHARS_MAX = 2000;

export async function saidByFailed(
  client: Pick<OpenClient, 'logs'>,
  { handle, event }: FollowedEvent,
): Promise<string[]> {
  if (event.type !== 'step-finished' || (event.step !== 'shell' && event.step !== 'command')) return [];
  if (event.failure === undefined && exitCodeOf(event) === 0) return [];
  const { lines } = await client.logs(handle, { stream: 'stderr', step: event.key }, LINES_MAX);
  return lines.map(({ text }) => cutLine(text));
}

/** On one line, with what was left out in characters. */
export function cutLine(text: string): string {
  if (text.length <= LINE_CHARS_MAX) return text;
  const half = LINE_CHARS_MAX / 2;
  const [begin, end] = [text.slice(0, half), text.slice(-half)];
  return `${begin} [… ${text.length - 2 * half} characters …] ${end}`.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
