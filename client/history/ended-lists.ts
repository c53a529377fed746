/** The lists of a run that have ended, as its events have them, and which of their items are performed again. */
import type { ItemsEnd, RunEvent, StepFinished } from '../../language/events/run-event.ts';
import { ClientError } from '../../runs/client-error.ts';
import type { ListPick } from '../../workflows/history/lines-again.ts';
import { byPlace, isWithin, outermostAround } from '../show/step-keys.ts';

export interface EndedList {
  key: string;
  outcome: StepFinished['outcome'];
  items: ItemsEnd;
  /** The outermost parallel step around it, or it itself. */
  around: string;
}

/** Which items, counted from 0. */
export type ItemsAsked = 'failed' | readonly number[];

export interface ListsAgain {
  /** The outermost parallel step around all of them. */
  at: string;
  picks: ListPick[];
}

/** Without those of attempts that were made again, and those of clean-ups. */
export function endedLists(events: readonly RunEvent[]): EndedList[] {
  const finished = events.filter((event): event is StepFinished => event.type === 'step-finished');
  const parallel = byPlace(
    events.flatMap((event) =>
      (event.type === 'step-started' || event.type === 'step-finished') && event.step === 'parallel' ? [event.key] : [],
    ),
  );
  const retried = byPlace(finished.flatMap(({ key, outcome }) => (outcome === 'retried' ? [key] : [])));
  return finished.flatMap(({ key, outcome, items }) => {
    if (items === undefined || /(?:^|\.)always\./.test(key)) return [];
    if (outermostAround(key, retried) !== undefined) return [];
    return [{ key, outcome, items, around: outermostAround(key, parallel) ?? key }];
  });
}

export const withFailed = (lists: readonly EndedList[]): EndedList[] => lists.filter(({ items }) => items.failed > 0);

/** Of all lists with failed items around which the same step stands. */
export function failedItemsOf(lists: readonly EndedList[], around: string): ListsAgain {
  const picks = withFailed(lists)
    .filter((list) => list.around === around)
    .map(({ key }): ListPick => ({ at: key, items: 'failed' }));
  return { at: around, picks };
}

/** Throws `FORK_REFUSED` and `USAGE` where it is not clear which, or there are none. */
export function listsAgain(
  handle: string,
  lists: readonly EndedList[],
  { at, items = 'failed' }: { at?: string; items?: ItemsAsked },
): ListsAgain {
  const candidates = items === 'failed' ? withFailed(lists) : lists;
  if (at !== undefined) return listAt(handle, lists, at, items);
  if (candidates.length === 0) throw new ClientError('FORK_REFUSED', nothingFailed(handle, lists));
  const places = new Set(candidates.map(({ around }) => around));
  const [first] = candidates;
  if (places.size > 1 || (items !== 'failed' && candidates.length > 1) || first === undefined)
    throw new ClientError(
      'USAGE',
      `${handle} has several lists: ${words(candidates)}. Say which one: --at ${first?.key ?? 'KEY'}.`,
    );
  return items === 'failed' ? failedItemsOf(lists, first.around) : itemsOf(handle, first, items);
}

function listAt(handle: string, lists: readonly EndedList[], at: string, items: ItemsAsked): ListsAgain {
  const list = lists.find(({ key }) => key === at);
  if (list === undefined) {
    const there = lists.length === 0 ? 'it has none' : `those that it came to the end of: ${words(lists)}`;
    throw new ClientError('FORK_KEY_NOT_REACHED', `${at} is no list that ${handle} came to the end of; ${there}.`);
  }
  if (items !== 'failed') return itemsOf(handle, list, items);
  const failed = withFailed(lists).filter(({ key }) => isWithin(key, at));
  if (failed.length === 0)
    throw new ClientError(
      'FORK_REFUSED',
      `No item of ${at} failed in ${handle}; --items names those that are to be performed again: --items 3,7-9.`,
    );
  return { at: list.around, picks: failed.map(({ key }): ListPick => ({ at: key, items: 'failed' })) };
}

function itemsOf(handle: string, { key, items: { count }, around }: EndedList, items: readonly number[]): ListsAgain {
  const beyond = items.find((item) => item >= count);
  if (beyond !== undefined || items.length === 0)
    throw new ClientError(
      'USAGE',
      `${key} of ${handle} has ${count} items, counted from 0 to ${count - 1}${beyond === undefined ? '' : `, and no item ${beyond}`}; --items names some of them.`,
    );
  return { at: around, picks: [{ at: key, items: items.map((item) => item + 1) }] };
}

const nothingFailed = (handle: string, lists: readonly EndedList[]): string =>
  lists.length === 0
    ? `${handle} came to the end of no list, so it has no items to perform again; "sentinel fork ${handle} --at KEY" starts a run from any of its steps.`
    : `No item failed in the lists of ${handle}: ${words(lists)}. --at and --items name what is to be performed again: --at ${lists[0]?.key ?? 'KEY'} --items 3,7-9.`;

const shownMax = 8;

const words = (lists: readonly EndedList[]): string => {
  const shown = lists
    .slice(0, shownMax)
    .map(({ key, items }) => `${key} (${items.failed} of ${items.count} items failed)`);
  return [...shown, ...(lists.length > shownMax ? [`and ${lists.length - shownMax} more`] : [])].join(', ');
};
