/**
 * What is looked for when a history is walked again, and what is found: where the run stood when it
 * came to a step, as the value that any run can begin with.
 */
import type { ItemsAgain } from '../../language/events/run-event.ts';
import type { SegmentReport } from '../../interpreter/host.ts';
import type { Reply } from '../../interpreter/effect.ts';
import type { Position } from '../../interpreter/position.ts';
import type { StartInput } from '../messages/start-input.ts';
import type { Line, ListPick } from './lines-again.ts';

export interface RetraceTarget {
  key: string;
  /** The step's first event; one that a segment ran has a number of one of its places. Null where it has none. */
  seq: number | null;
  /** Of a key that is a turn's: the step and the turn that is to begin. */
  turn?: { conversation: string; number: number };
  /**
   * In place of a step: lists of which items are performed again. What is looked for is the end of the step `key` around
   * them all; `lines` stood where they go on from in an earlier part of the run.
   */
  lists?: { picks: readonly ListPick[]; lines: readonly Line[] };
}

export interface Standing {
  /** The step asked for, or the first of the segment that holds it. */
  at: string;
  /** What the segment that holds it is journaled under; absent where it begins with the step. */
  segment?: string;
  /** By the run's clock. */
  now: number;
  start: StartInput;
  position: Position;
  /** Steps, or first steps of segments, that other lines of execution were at. */
  inFlight: string[];
  /** What of lists is performed again from here. */
  items?: ItemsAgain[];
}

/** What a step or segment that was in flight came to. */
export type Settlement = { key: string; reply: Reply } | { key: string; report: SegmentReport };
