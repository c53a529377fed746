/**
 * Events of one run in the order of their numbers, as far as waiting a moment can give it. Quick steps
 * are written with their segment, the others in batches a moment later: an event that comes after a
 * gap is held until the gap is filled, or until nothing can be on its way any more. None is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEvent } from '../../language/events/run-event.ts';

/** Events of one batch of the worker's are in the store within this time of one another. */
const HELD_MS = 150;

export async function* inSequence(events: AsyncIterable<RunEvent>, after: number): AsyncGenerator<RunEvent> {
  const iterator = events[Symbol.asyncIterator]();
  const held: { event: RunEvent; until: number }[] = [];
  let last = after;
  let next = iterator.next();
  for (;;) {
    next.catch(() => undefined);
    for (let first = held[0]; first !== undefined && isDue(first, last); first = held[0]) {
      held.shift();
      last = Math.max(last, first.event.seq);
      yield first.event;
    }
    const wait = held[0] === undefined ? [] : [sleep(held[0].until - performance.now(), null)];
    const result = await Promise.race([next, ...wait]);
    if (result === null) continue;
    if (result.done === true) break;
    const { value: event } = result;
    const at = held.findIndex((other) => other.event.seq > event.seq);
    held.splice(at === -1 ? held.length : at, 0, { event, until: performance.now() + HELD_MS });
    next = iterator.next();
  }
  for (const { event } of held) yield event;
}

function isDue({ event, until }: { event: RunEvent; until: number }, last: number): boolean {
  return event.seq <= last + 1 || performance.now() >= until;
}
