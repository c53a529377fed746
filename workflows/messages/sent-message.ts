/**
 * A signal, an update or a query as it is sent: everything in one value, so that its seal holds the parts
 * together. One without arguments has a seal this way, too, which is what tells ours from a stranger's.
 */
export interface SentMessage {
  /** Which signal, update or query it is: one cannot be sent again as another. */
  to: string;
  /** Names this message, so that the same one is taken once. */
  id: string;
  /** When it was sent, by the sender's clock, in milliseconds since the epoch. */
  at: number;
  args: readonly unknown[];
}

/** Questions of Temporal's own tools. They change nothing, and their answers are sealed. */
export const isOfTemporal = (name: string): boolean => name.startsWith('__');

export function isSentMessage(value: unknown): value is SentMessage {
  return (
    typeof value === 'object' &&
    value !== null &&
    'to' in value &&
    'id' in value &&
    typeof value.id === 'string' &&
    'at' in value &&
    typeof value.at === 'number' &&
    'args' in value &&
    Array.isArray(value.args)
  );
}
