/**
 * What a replay recorded against what the store has of the same run: the same events under the same
 * numbers. A segment's events are in the store alone; each segment has parts of the numbers to itself,
 * so a part in which the replay recorded anything is one of the workflow's own.
 */
import type { RunEvent } from '../../language/events/run-event.ts';
import { PART_SIZE } from '../../language/events/event-numbers.ts';

export interface EventDifference {
  seq: number;
  /** As a line to read, null where that side has no such event. */
  replayed: string | null;
  stored: string | null;
}

/** `isWhole`: the run has ended and its replay came to the end, so neither side has less than the other. */
export function compareEvents(
  replayed: readonly RunEvent[],
  stored: readonly RunEvent[],
  isWhole: boolean,
): EventDifference[] {
  const left = new Map(replayed.map((event) => [event.seq, event]));
  const right = new Map(stored.map((event) => [event.seq, event]));
  const own = new Set(replayed.map(({ seq }) => partOf(seq)));
  const lastStored = stored.at(-1)?.seq ?? -1;
  const seqs = [...new Set([...left.keys(), ...[...right.keys()].filter((seq) => own.has(partOf(seq)))])].toSorted(
    (a, b) => a - b,
  );
  return seqs.flatMap((seq) => {
    const [mine, theirs] = [left.get(seq), right.get(seq)];
    // What is still on its way to the store, or came after the history was read, is no difference.
    if (!isWhole && (mine === undefined || (theirs === undefined && seq > lastStored))) return [];
    const [now, then] = [mine === undefined ? null : essence(mine), theirs === undefined ? null : essence(theirs)];
    return now === then ? [] : [{ seq, replayed: now, stored: then }];
  });
}

const partOf = (seq: number): number => Math.floor((seq - 1) / PART_SIZE);

function essence(event: RunEvent): string {
  const outcome = 'outcome' in event ? event.outcome : '';
  return [event.type, event.key, outcome].filter((word) => word !== '').join(' ');
}
