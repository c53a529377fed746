/** Follows a run until it has ended, or until its workflow was ended from outside, which writes no last event. */
import type { Client } from '@temporalio/client';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { ClientError } from '../../runs/client-error.ts';
import type { FollowOptions } from './follow-run.ts';
import { waitForLoss } from './lost-run.ts';

export type FollowWith<Item> = (store: Store, handle: string, options: FollowOptions) => AsyncGenerator<Item>;

/** Throws `RUN_LOST`. */
export async function* untilLost<Item>(
  { store, client }: { store: Store; client: () => Promise<Client> },
  handle: string,
  options: FollowOptions,
  followWith: FollowWith<Item>,
): AsyncGenerator<Item> {
  const over = new AbortController();
  const lost = { how: null as string | null };
  void waitForLoss({ handle, store, client, signal: over.signal }).then((how) => {
    lost.how = how;
    if (how !== null) over.abort();
  });
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]);
  try {
    yield* followWith(store, handle, { ...options, signal });
  } finally {
    over.abort();
  }
  if (lost.how === null) return;
  throw new ClientError(
    'RUN_LOST',
    `The workflow of ${handle} was ${lost.how} from outside, so the run has no result: start it anew.`,
  );
}
