/**
 * Actions that a rate limit, or the persona's budget of the day, holds back: nothing of them has happened, and they are done when it is their turn. The wait
 * is a timer of the run, said in its status. The step has another key then, and as many attempts left as before.
 */
import { type FailureInfo, isHeldBack } from '../language/failure.ts';
import { restMsMax } from '../language/limits.ts';
import { DAY_SPENT, waitForDay } from './day-budget.ts';
import type { Walking } from './drive.ts';
import type { Reply } from './effect.ts';
import type { Gate, Strand } from './host.ts';
import { takeRest } from './waits.ts';
import { record, type Walk } from './walk-state.ts';

export const heldBackIn = (reply: Reply): FailureInfo | null =>
  !reply.ok && 'failure' in reply && isHeldBack(reply.failure) ? reply.failure : null;

const withoutKey = (message: string, key: string): string =>
  message.startsWith(`${key}: `) ? message.slice(key.length + 2) : message;

const waitMin = 50;
const waitUsual = 5_000;

export function* waitForTurn(
  walk: Walk,
  strand: Strand,
  key: string,
  failure: FailureInfo,
  frame: { restsUntil?: number },
): Walking<Gate> {
  if (failure.code === DAY_SPENT) return yield* waitForDay(walk, strand, key, frame);
  const asked = failure.details?.['retryAfterMs'];
  const ms = typeof asked === 'number' ? Math.min(Math.max(asked, waitMin), restMsMax) : waitUsual;
  // A host that cannot wait hands the rest on as it has begun; it was said there.
  if (frame.restsUntil === undefined) {
    const until = walk.host.now() + ms;
    frame.restsUntil = until;
    const tool = failure.details?.['tool'];
    const whom = typeof tool === 'string' ? tool : 'its turn';
    record(walk, {
      type: 'warning',
      key,
      code: failure.code,
      message: `${key} is waiting for ${whom} until ${new Date(until).toISOString()}: ${withoutKey(failure.message, key)}`,
      until,
      waitsFor: whom,
    });
  }
  return yield* takeRest(walk, strand, `${key} waiting:`, ms, frame);
}
