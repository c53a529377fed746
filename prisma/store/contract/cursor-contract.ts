/** Whoever is fed with published events, each with a place of its own in their order, over any number of workers. */
import type { KeptEvent } from './event-contract.ts';
import type { Session } from './session-contract.ts';

export interface FedCursor {
  /** It has one place, whichever worker feeds it; `doctor` shows this name. */
  name: string;
  /** The name of an event, or a pattern with `*`; null: every event. */
  event: string | null;
  /** With which events it begins when it is fed for the first time: those from now on, or those of the last day, too. */
  from: 'now' | 'a day ago';
  /** Events handed over together. */
  most: number;
  /** Whether with what they carry, which may be 3 MiB each; without, their `data` is null. */
  withData: boolean;
}

export interface FedEvent extends KeptEvent {
  /** In the order of writing. */
  seq: number;
  /** The project it belongs to; null: everybody's. */
  project: string | null;
}

export interface Batch {
  events: FedEvent[];
  /** The place before them. */
  after: number;
  /** How often the first of them has failed. */
  failures: number;
}

/** One that failed at an event, and is tried again there. */
export interface HeldCursor {
  name: string;
  /** All events up to here are done with. */
  position: number;
  attempts: number;
  /** In milliseconds since the epoch. */
  notBefore: number;
  failure: string;
}

export interface EventCursors {
  /** From here on it is fed; where it was before, from where it was. */
  open(cursor: FedCursor): Promise<void>;
  /** The names of those to whom `take` may give something: not of those whom another worker feeds, or who rest. */
  behind(cursors: readonly FedCursor[]): Promise<Set<string>>;
  /**
   * The next events, within a session: nobody else is given any until that has ended, and what is done with them is
   * committed with the new place. Null: there are none, or another worker is at it, or it rests.
   */
  take(session: Session, cursor: FedCursor): Promise<Batch | null>;
  /**
   * It rests, longer after each failure, and is given the same event again. How often it has failed there; null where
   * another worker has done with the event meanwhile.
   */
  hold(name: string, after: number, failure: string): Promise<number | null>;
  held(): Promise<HeldCursor[]>;
}
