/** What the store offers to runs that wait for published events, and to whoever wakes them. */
import type { Json } from '../../../language/json.ts';
import type { PublishedEvent } from '../../../language/events/published-event.ts';
import type { Session } from './session-contract.ts';
import type { Subscription } from './subscription.ts';

export interface NewEvent {
  handle: string;
  key: string;
  name: string;
  data: Json;
  /** Only triggers and runs of this project see it; absent: all do. */
  project?: string;
}

export interface WantedEvent {
  handle: string;
  glob: string;
  /** Also the event that started the run, which is older than the run. */
  withCause: boolean;
  /** What the run has consumed: every event that matches a glob, up to a position. */
  consumed: { [glob: string]: number };
  /** Also every event from before the run began. */
  withEarlier?: boolean;
}

/** A run that has been chosen for waking by one caller. */
export interface ClaimedRun {
  handle: string;
  glob: string;
  claimedAt: Date;
}

/** An event as whoever looks back sees it. */
export interface KeptEvent {
  /** In the order of publishing. */
  position: number;
  name: string;
  data: Json;
  /** The run that published it; what begins with `@` is no run: `@emit` is a person or a program outside of runs. */
  handle: string;
  /** The step that published it, or the id that it was given outside. */
  key: string;
  at: number;
}

export interface KeptQuery {
  /** A name, or a pattern as `watch` takes it. */
  pattern?: string;
  /** Of this run and those nested in it. */
  handle?: string;
  /** Published by this step of the run itself. */
  key?: string;
  /** Behind this position, the first ones first; without it the latest ones. */
  after?: number;
  limit: number;
}

/** Events published by `emit`: rows with a sequence, once per (handle, key). */
export interface Signals {
  /** Within a segment or a step: it is there once the session has committed. */
  publish(session: Session, event: NewEvent): Promise<void>;
  /** What was published, in order. */
  kept(query: KeptQuery): Promise<KeptEvent[]>;
  /** Says that a session which was committed has published: the commit of a run's events says it by itself. */
  announce(): void;
  /** At once, outside any session. */
  publishAll(events: readonly NewEvent[]): Promise<void>;
  /**
   * The first event that is wanted, in the order of delivery. Null when there is none yet: then the
   * run is subscribed, and `claim` will name it when one is there.
   */
  next(wanted: WantedEvent): Promise<PublishedEvent | null>;
  /**
   * At most `limit` subscribed runs for which an event is there. Any number of callers may share the
   * work: none gets a run that another has, unless that one did not report within half a minute.
   */
  claim(limit: number): Promise<ClaimedRun[]>;
  /** The runs have been told, or are no more. */
  told(claims: readonly ClaimedRun[]): Promise<void>;
  /** Hears of every event that is published. */
  listen(): Subscription;
}
