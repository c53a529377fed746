/** The tables that systems bring, and how far their followers of events have come. */
import type { KeptEvent } from './event-contract.ts';
import type { Session } from './session-contract.ts';

/** SQL by name, in the order in which it is applied: once it has been, it never changes. */
export interface Tables {
  readonly [name: string]: string;
}

/** What is wrong with the tables of a system; all of what failed was undone. */
export class TablesRefused extends Error {
  override readonly name = 'TablesRefused';
}

/** Of a system; it has a place of its own in the order of events. */
export interface Follower {
  system: string;
  follower: string;
  /** The name of an event, or a pattern with `*`. */
  event: string;
}

export interface FollowedNext {
  event: KeptEvent;
  /** How often it has failed at the event. */
  failures: number;
}

/** How a follower stands that failed at an event. */
export interface HeldFollower {
  system: string;
  follower: string;
  /** Of the event that it follows next. */
  position: number;
  attempts: number;
  /** Tried again then, in milliseconds since the epoch. */
  notBefore: number;
  failure: string;
}

export interface SystemTables {
  /** It follows the events from now on; where it did before, from where it was. */
  openFollower(follower: Follower): Promise<void>;
  /**
   * The next event of a follower, within a session: nobody else follows until that has ended, and what is done with the
   * event is committed with the follower's new place. Null: there is none, or another worker is at it, or it rests.
   */
  nextFor(session: Session, follower: Follower): Promise<FollowedNext | null>;
  /** It rests, longer after each failure, and is at the same event again. How often it has failed there. */
  holdFollower(follower: Follower, failure: string): Promise<number>;
  heldFollowers(): Promise<HeldFollower[]>;
  /** Applies what has not been applied; the names of that. Throws `TablesRefused`. */
  apply(system: string, tables: Tables): Promise<string[]>;
  /** Those whose tables there are. */
  list(): Promise<string[]>;
}
