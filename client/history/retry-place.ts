/** Where a retry begins: at the failed items of a list, or at the step that failed. */
import type { RunEvent } from '../../language/events/run-event.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import { ClientError } from '../../runs/client-error.ts';
import { isWithin } from '../show/step-keys.ts';
import {
  endedLists,
  failedItemsOf,
  listsAgain,
  withFailed,
  type EndedList,
  type ItemsAsked,
  type ListsAgain,
} from './ended-lists.ts';
import { failedStep } from './failed-step.ts';

export interface RetryPlace {
  at: string;
  lists?: ListsAgain;
  /** Lists whose failed items stay as they are. */
  others: EndedList[];
}

type Ended = Pick<Run, 'handle' | 'outcome' | 'status' | 'limit' | 'failure'>;

/**
 * Without `at` and `items`: the failed items of the list that ended the run; those of its lists if it did not fail, or
 * failed at a step of type `fail`, which only says what had become of others; else the step that failed.
 */
export function retryPlace(
  run: Ended,
  events: readonly RunEvent[],
  asked: { at?: string; items?: ItemsAsked } = {},
): RetryPlace {
  const { handle, outcome } = run;
  const lists = endedLists(events);
  if (asked.at !== undefined || asked.items !== undefined) return placeOf(listsAgain(handle, lists, asked));
  const failed = withFailed(lists);
  const step = outcome === 'failed' ? failedStep(events) : null;
  const ended = failed.find((list) => list.outcome === 'failed' && step !== null && isWithin(step, list.around));
  if (ended !== undefined) return placeOf(failedItemsOf(lists, ended.around));
  if (outcome !== null && failed.length > 0 && (step === null || isVerdict(events, step)))
    return placeOf(listsAgain(handle, lists, {}));
  if (step !== null) return { at: step, others: failed };
  throw new ClientError('FORK_REFUSED', nothingToRetry(run));
}

const placeOf = (lists: ListsAgain): RetryPlace => ({ at: lists.at, lists, others: [] });

const isVerdict = (events: readonly RunEvent[], key: string): boolean =>
  events.some((event) => event.type === 'step-finished' && event.step === 'fail' && event.key === key);

function nothingToRetry({ handle, outcome, status, limit, failure }: Ended): string {
  const elsewhere = `"sentinel fork ${handle} --at KEY" starts a run from any of its steps`;
  if (outcome === 'failed')
    return `No step of ${handle} failed: it ended with ${failure?.code ?? 'a failure of its own'}; ${elsewhere}.`;
  const stands = limit === null || limit === 'stop' ? (outcome ?? status) : `${outcome ?? status}: ${limit}`;
  return `${handle} has not failed (${stands}), and no item of its lists did, so there is nothing to retry; ${elsewhere}.`;
}
