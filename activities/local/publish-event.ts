/** Publishing an event, from a segment or from an activity of its own: once per run and step. */
import type { Json } from '../../language/json.ts';
import type { Session, Store } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../failures/failures.ts';

/** Names are indexed; what is longer belongs into the event's data. */
const nameBytesMax = 500;

export async function publishEvent(
  store: Store,
  session: Session,
  event: { handle: string; key: string; name: string; data: Json },
): Promise<{ event: string }> {
  const bytes = Buffer.byteLength(event.name);
  if (bytes > nameBytesMax) {
    const message = `the event's name has ${bytes} bytes and ${nameBytesMax} are allowed; put the text into "data"`;
    throw new Failure('VALUE_TOO_LARGE', message);
  }
  await store.signals.publish(session, event);
  return { event: event.name };
}
