/** Which question an answer is for: of the run itself, or of a run nested in it. */
import type { Answer } from '../../language/events/question.ts';
import type { InboxItem, Store } from '../../prisma/store/contract/contract.ts';
import { ClientError } from '../../runs/client-error.ts';
import { pollUntil } from '../follow/poll-until.ts';

const KEPT_MS = 5000;

export interface FoundQuestion {
  handle: string;
  id: string;
  digest: string | null;
  /** The answer it has: whoever answers second is told it, also when the run has gone on or ended since. */
  answer: Answer | null;
}

/** An item's id as seen from a run around the one that asked. */
export function idWithin(handle: string, item: Pick<InboxItem, 'handle' | 'id'>): string {
  return item.handle === handle ? item.id : `${item.handle.slice(handle.length + 1)}/${item.id}`;
}

export async function questionFor(store: Store, handle: string, id: string | undefined): Promise<FoundQuestion> {
  const asked = (await store.inbox.list({ handle, all: true })).filter((item) => item.digest !== null);
  const open = asked.filter((item) => item.state === 'open');
  if (id === undefined) {
    const [only = asked.find((item) => item.answer !== null), ...others] = open;
    if (only === undefined)
      throw new ClientError('QUESTION_UNKNOWN', `${handle} asks nothing: "sentinel inbox" shows what is asked.`);
    if (others.length > 0) {
      const ids = open.map((item) => idWithin(handle, item)).join(', ');
      throw new ClientError('QUESTION_UNKNOWN', `${handle} asks ${open.length} questions: name one of ${ids}.`);
    }
    return only;
  }
  const found = asked.find((item) => idWithin(handle, item) === id);
  // The row may be on its way: what the run says counts.
  return found ?? { ...split(handle, id), digest: null, answer: null };
}

/** A question that its run no longer asks: the store hears of it a moment later. Null where it was never asked. */
export async function settledItem(
  store: Store,
  { handle, id }: Pick<InboxItem, 'handle' | 'id'>,
): Promise<InboxItem | null> {
  const settled = await pollUntil(KEPT_MS, async () => {
    const item = (await store.inbox.list({ handle, all: true })).find((one) => one.handle === handle && one.id === id);
    return item?.state === 'open' ? undefined : (item ?? null);
  });
  return settled ?? null;
}

/** `steps.2@1/steps.0@1` is the question `steps.0@1` of the run that step 2 started. */
function split(handle: string, id: string): Pick<FoundQuestion, 'handle' | 'id'> {
  const at = id.lastIndexOf('/');
  return at === -1 ? { handle, id } : { handle: `${handle}/${id.slice(0, at)}`, id: id.slice(at + 1) };
}
