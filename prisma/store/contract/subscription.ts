/** One follower's subscription: `next` resolves at an announcement made since the last call, or after POLL_MS. */
export interface Subscription {
  next(signal: AbortSignal | undefined): Promise<'announced' | 'polled'>;
  close(): void;
}
