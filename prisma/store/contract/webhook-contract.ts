/** Messages that other systems send over HTTP, each of which becomes one event. */
import type { Json } from '../../../language/json.ts';

export interface WebhookMessage {
  /** The sender's, or made of what was signed where the sender gave none. */
  id: string;
  /** Of the event. */
  name: string;
  data: Json;
  /** Of all that makes it this message and no other: the event's name and the body as it was sent. */
  digest: string;
}

/** `other`: its id was used for another message; no event is published. */
export type MessageVerdict = 'new' | 'again' | 'other';

export interface WebhookStore {
  /**
   * Publishes the event of a message that has not been received before. The id and the event are one
   * transaction, so whichever workers receive a message, however often, it becomes one event.
   */
  receive(message: WebhookMessage): Promise<MessageVerdict>;
  /** Forgets ids that have expired: a day after they were used. */
  sweep(): Promise<void>;
}
