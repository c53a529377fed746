/** The last lines that a step wrote to stderr, where it failed or its process ended non-zero. */
import type { Store } from '../../../prisma/store/contract/contract.ts';
import type { FollowedEvent } from '../../follow/follow-run.ts';
import { exitCodeOf } from '../../show/trace.ts';

const LINES_MAX = 10;

export async function saidByFailed(store: Pick<Store, 'logs'>, { handle, event }: FollowedEvent): Promise<string[]> {
  if (event.type !== 'step-finished' || (event.step !== 'shell' && event.step !== 'command')) return [];
  if (event.failure === undefined && exitCodeOf(event) === 0) return [];
  const lines = await store.logs.tail(handle, { stream: 'stderr', step: event.key }, LINES_MAX);
  return lines.map(({ text }) => text);
}
