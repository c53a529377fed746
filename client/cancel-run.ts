/**
 * Cancelling a run and seeing it end. What it always does goes on meanwhile, and may ask somebody:
 * then it ends only when that is answered, and whoever waits is told so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { InboxItem } from '../prisma/store/contract/contract.ts';
import { idWithin } from './lookup/find-question.ts';
import type { Forced } from './contract/requests.ts';
import type { RunReport } from './lookup/run-report.ts';

/** How long a run that is cancelled is waited for. */
export const CANCEL_MAX_MS = 60_000;
const LOOK_MS = 250;

/** What is asked of a client; `result` returns the run as it stands when the signal aborts. */
interface CancellingClient {
  requestCancel(handle: string): Promise<void>;
  result(handle: string, options: { signal: AbortSignal }): Promise<RunReport>;
  inbox(query: { handle: string }): Promise<InboxItem[]>;
}

export interface CancelOptions {
  /** Terminate the workflow of a run that does not react to cancellation. */
  force?: boolean;
  /** Who forces the end; recorded with it. */
  by?: string;
  /** Called once the run has received the cancellation. */
  whenTold?: () => void;
}

export interface Cancelled {
  report: RunReport;
  /** What its clean-up asks; it has not ended then. */
  questions: InboxItem[];
  /** What was done, where it was ended by force. */
  forced?: Forced;
}

/** Returns when the run has ended, when its clean-up asks something, or as it stands after a minute. */
export async function cancelAndSee(
  client: CancellingClient,
  handle: string,
  whenTold?: () => void,
): Promise<Cancelled> {
  await client.requestCancel(handle);
  whenTold?.();
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(CANCEL_MAX_MS)]);
  const asking = whenAsked(client, handle, signal).finally(() => over.abort());
  try {
    const report = await client.result(handle, { signal });
    over.abort();
    const questions = await asking;
    return { report, questions: report.outcome === null ? questions : [] };
  } finally {
    over.abort();
  }
}

/** Empty where nothing is asked before the signal aborts. */
async function whenAsked(client: CancellingClient, handle: string, signal: AbortSignal): Promise<InboxItem[]> {
  while (!signal.aborted) {
    // A store that does not answer is told of by whoever waits for the result.
    const open = await client.inbox({ handle }).catch(() => []);
    const asked = open.filter((item) => item.state === 'open' && isOfCleanUp(handle, item));
    if (asked.length > 0) return asked;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return [];
}

/** Every other question is withdrawn by the cancellation. */
const isOfCleanUp = (handle: string, item: Pick<InboxItem, 'handle' | 'id'>): boolean =>
  /(?:^|[/.])always\./.test(idWithin(handle, item));
