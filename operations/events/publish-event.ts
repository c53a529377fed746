/** Publishing an event, from a segment or from an activity of its own: once per run and step. */
import { eventDataFault, eventNameBytesMax } from '../../language/events/published-event.ts';
import { reservedEventFault } from '../../language/events/reserved-events.ts';
import type { Session, Store } from '../../prisma/store/contract/contract.ts';
import type { NewEvent } from '../../prisma/store/contract/event-contract.ts';
import { Failure } from '../../world/failures/failures.ts';

export async function publishEvent(
  store: Store,
  session: Session,
  event: NewEvent,
  by: 'step' | 'engine' = 'step',
): Promise<{ event: string }> {
  const bytes = Buffer.byteLength(event.name);
  if (bytes > eventNameBytesMax) {
    const message = `the event's name has ${bytes} bytes and ${eventNameBytesMax} are allowed; put the text into "data"`;
    throw new Failure('VALUE_TOO_LARGE', message);
  }
  const reserved = by === 'engine' ? null : reservedEventFault(event.name);
  const fault = reserved ?? eventDataFault(event.data, `the data of the event "${event.name}"`);
  if (fault !== null) throw new Failure(fault.code, fault.message);
  await store.signals.publish(session, event);
  return { event: event.name };
}
