/** Messages that other systems send over HTTP, each of which becomes one event. */
import type { Json } from '../../../language/json.ts';

export interface WebhookMessage {
  /** The sender's, or made of what was signed where the sender gave none. */
  id: string;
  /** Of the event. */
  name: string;
  data: Json;
  /** Of all that makes it this message and no other: the event's name and the body as it was sent. Null: its id does, which is signed. */
  digest: string | null;
  /** Whose ids it is one of, by the name that `sentinel.config` gives the sender; absent: of whoever has the common secret. */
  source?: string;
  /** Of a body that is taken once, under whichever id it comes: its signature holds nothing else. */
  once?: string;
}

/** `other`: its id was used for another message. `replayed`: its body came under another id. Neither publishes an event. */
export type MessageVerdict = 'new' | 'again' | 'other' | 'replayed';

export interface WebhookStore {
  /**
   * Publishes the event of a message that has not been received before. The id and the event are one
   * transaction, so whichever workers receive a message, however often, it becomes one event.
   */
  receive(message: WebhookMessage): Promise<MessageVerdict>;
  /** Forgets ids that have expired: a day after they were used, and bodies that are taken once a month after. */
  sweep(): Promise<void>;
}
