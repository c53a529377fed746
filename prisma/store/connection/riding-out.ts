/** Following goes on over an outage of the database: what was missed is read when it is back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable } from './unavailable.ts';

const OUTAGE_MAX_MS = 120_000;
const RETRY_MS = 500;

export function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Tries again while the database is away; undefined when the signal aborted meanwhile. */
export async function ridingOut<Result>(
  signal: AbortSignal | undefined,
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  const giveUpAt = performance.now() + OUTAGE_MAX_MS;
  while (!isAborted(signal)) {
    try {
      return await read();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > giveUpAt) throw error;
      await sleep(RETRY_MS);
    }
  }
  return undefined;
}

export const FINISHED_SQL = 'select 1 from runs where handle = $1 and finished_at is not null';
