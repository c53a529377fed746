/**
 * What is looked for when a history is walked again, and what is found: where the run stood when it
 * came to a step, as the value that any run can begin with.
 */
import type { SegmentReport } from '../../interpreter/host.ts';
import type { Reply } from '../../interpreter/effect.ts';
import type { Position } from '../../interpreter/position.ts';
import type { StartInput } from '../messages/start-input.ts';

export interface RetraceTarget {
  key: string;
  /** The step's first event; one that a segment ran has a number of one of its places. Null where it has none. */
  seq: number | null;
  /** Of a key that is a turn's: the step and the turn that is to begin. */
  turn?: { conversation: string; number: number };
}

export interface Standing {
  /** The step asked for, or the first of the segment that holds it. */
  at: string;
  /** By the run's clock. */
  now: number;
  start: StartInput;
  position: Position;
  /** Steps, or first steps of segments, that other lines of execution were at. */
  inFlight: string[];
}

/** What a step or segment that was in flight came to. */
export type Settlement = { key: string; reply: Reply } | { key: string; report: SegmentReport };
