/**
 * Waiting for an event in a workflow. The signal only says that a look is worth while: one that comes
 * before the wait, or with the end of this history, is not missed, because every wait begins with a
 * look, which also subscribes the run.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { NEXT_EVENT, type EventRequest } from '../../interpreter/contract.ts';
import type { PublishedEvent } from '../../language/events/published-event.ts';
import { lookOptions } from './activity-options.ts';
import type { Control } from './control.ts';
import { shieldOf, type AskEnd, type Strand, type WantedEvent } from '../../interpreter/host.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { askLocally } from '../replay-order/local-activity.ts';

/** What the host knows of the run. */
export interface Waiter {
  walk: Walk;
  control: Control;
  isYielding(): boolean;
  interruption(strand: Strand): 'stop' | 'cancel' | null;
  untilResumed(strand: Strand): Promise<'stop' | 'cancel' | null>;
  untilGoesOn(strand: Strand, mustMove: () => boolean): Promise<'stop' | 'cancel' | null>;
}

export type EventEnd = PublishedEvent | Exclude<AskEnd, 'settled'>;

export async function nextEvent(waiter: Waiter, strand: Strand, wanted: WantedEvent): Promise<EventEnd> {
  try {
    for (;;) {
      const end = await lookAndWait(waiter, strand, wanted);
      if (end !== null) return end;
    }
  } catch (error) {
    // A look that was under way may have failed instead.
    if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;
    return waiter.interruption(strand) ?? 'cancel';
  }
}

/** Null when another look is worth while. */
async function lookAndWait(waiter: Waiter, strand: Strand, wanted: WantedEvent): Promise<EventEnd | null> {
  const { walk, control } = waiter;
  const held = await waiter.untilResumed(strand);
  if (held) return held;
  const { heard } = control;
  const found = await look(walk, wanted);
  if (found !== null) return found;
  const isShielded = shieldOf(strand) !== null;
  // A clean-up ends before the run continues as new.
  const follows = (): boolean => waiter.isYielding() && !isShielded;
  const mustMove = (): boolean => control.heard !== heard || follows() || (walk.position.stopping && !isShielded);
  const { untilMs } = wanted;
  const isLate =
    untilMs === null
      ? (await condition(mustMove), false)
      : !(await condition(mustMove, Math.max(1, untilMs - walk.host.now())));
  const end = isLate ? await waiter.untilGoesOn(strand, mustMove) : null;
  return end ?? waiter.interruption(strand) ?? (follows() ? 'yield' : isLate && !mustMove() ? 'late' : null);
}

function look(walk: Walk, { key, pattern, withCause, consumed, isOwn }: WantedEvent): Promise<PublishedEvent | null> {
  const request: EventRequest = {
    glob: pattern,
    withCause,
    consumed: isOwn === true ? consumed : (walk.position.consumed ?? {}),
    ...(isOwn === true ? { withEarlier: true as const } : {}),
  };
  return askLocally<PublishedEvent | null>(walk, NEXT_EVENT, [request], lookOptions(key, pattern));
}
