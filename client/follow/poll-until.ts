/** What the store is told of a moment later. */
import { setTimeout as sleep } from 'node:timers/promises';

const AGAIN_MS = 50;

/** Looks until there is something to see; undefined where there is nothing within the time. */
export async function pollUntil<Seen>(
  withinMs: number,
  look: () => Promise<Seen | undefined>,
): Promise<Seen | undefined> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined || Date.now() > deadline) return seen;
    await sleep(AGAIN_MS);
  }
}
