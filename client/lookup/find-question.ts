/** Which question an answer is for: of the run itself, or of a run nested in it. */
import { shownBriefly } from '../../language/events/shown-value.ts';
import type { InboxItem, Store } from '../../prisma/store/contract/contract.ts';
import { turnPart } from '../../language/models/turn-keys.ts';
import { ClientError } from '../../runs/client-error.ts';
import { pollUntil } from '../follow/poll-until.ts';

const KEPT_MS = 5000;

/** `answer`: the one it has; whoever answers second is told it, also when the run has gone on or ended since. */
export type FoundQuestion = Pick<InboxItem, 'handle' | 'id' | 'digest' | 'answer'> &
  Partial<Pick<InboxItem, 'show' | 'persona' | 'approvers'>>;

/** Whether lists show the whole of it; else who acts on it names the digest of what was seen. */
export const isShownWhole = ({ show = null }: Pick<FoundQuestion, 'show'>): boolean => shownBriefly(show).isWhole;

/** A digest as it is written: as much of it as tells questions apart. */
export const shortDigest = (digest: string): string => digest.slice(0, 16);

/** An item's id as seen from a run around the one that asked. */
export function idWithin(handle: string, item: Pick<InboxItem, 'handle' | 'id'>): string {
  return item.handle === handle ? item.id : `${item.handle.slice(handle.length + 1)}/${item.id}`;
}

export async function questionFor(store: Store, handle: string, id: string | undefined): Promise<FoundQuestion> {
  if (id === undefined) return onlyQuestion(store, handle);
  const asked = split(handle, id);
  // The row may be on its way: what the run says counts.
  return (await itemOf(store, asked)) ?? { ...asked, digest: null, answer: null };
}

/** The same, where there is a row to look at. */
export async function itemFor(store: Store, handle: string, id: string | undefined): Promise<InboxItem> {
  if (id === undefined) return onlyQuestion(store, handle);
  const item = await itemOf(store, split(handle, id));
  if (item !== null) return item;
  throw new ClientError('QUESTION_UNKNOWN', `${handle} never asked "${id}": "sentinel inbox" shows what is asked.`);
}

/** The one that is open; where none is, the latest that was answered. */
async function onlyQuestion(store: Store, handle: string): Promise<InboxItem> {
  const asked = (await store.inbox.list({ handle, all: true })).filter((item) => item.digest !== null);
  const open = asked.filter((item) => item.state === 'open');
  const [only = asked.find((item) => item.answer !== null), ...others] = open;
  if (only === undefined)
    throw new ClientError('QUESTION_UNKNOWN', `${handle} asks nothing: "sentinel inbox" shows what is asked.`);
  if (others.length === 0) return only;
  const ids = open.map((item) => idWithin(handle, item)).join(', ');
  throw new ClientError('QUESTION_UNKNOWN', `${handle} asks ${open.length} questions: name one of ${ids}.`);
}

async function itemOf(store: Store, { handle, id }: Pick<InboxItem, 'handle' | 'id'>): Promise<InboxItem | null> {
  const items = await store.inbox.list({ handle, id, all: true });
  return items.find((item) => item.handle === handle && item.digest !== null) ?? null;
}

/** A question that its run no longer asks: the store hears of it a moment later. Null where it was never asked. */
export async function settledItem(
  store: Store,
  { handle, id }: Pick<InboxItem, 'handle' | 'id'>,
): Promise<InboxItem | null> {
  const settled = await pollUntil(KEPT_MS, async () => {
    const item = await itemOf(store, { handle, id });
    return item?.state === 'open' ? undefined : item;
  });
  return settled ?? null;
}

/** `steps.2@1/steps.0@1` is the question `steps.0@1` of the run that step 2 started. */
function split(handle: string, id: string): Pick<FoundQuestion, 'handle' | 'id'> {
  const at = id.lastIndexOf('/', id.length - turnPart(id).length - 1);
  return at === -1 ? { handle, id } : { handle: `${handle}/${id.slice(0, at)}`, id: id.slice(at + 1) };
}
