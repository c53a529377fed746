/**
 * Triggers as the rest of the project sees them: definitions that events start runs of, and the
 * events that come from outside of runs.
 *
 * Every event that a trigger matches becomes one row, a start, whatever happens to the processes that
 * look at it; the start's handle is made of the trigger and the event, so starting it twice is
 * starting it once.
 */
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Policy } from '../../../language/policy/policy.ts';
import type { FedEvent } from './cursor-contract.ts';
import type { Session } from './session-contract.ts';
import type { Subscription } from './subscription.ts';

export interface NewTrigger {
  /** The definition's name; unique within a project. */
  name: string;
  /** Which events start a run: a pattern (language/events/event-glob.ts). */
  event: string;
  definitionHash: string;
  project: string;
  persona: string;
  inputs: JsonObject;
  taskQueue: string;
  /** An expression over `$event`; null: none. */
  filter?: string | null;
  /** The run starts once no further event has come for so long, with the last one; null: at once. */
  debounceMs?: number | null;
  /** What holds for its runs besides the policy of the project. */
  policies?: readonly Policy[];
}

export interface Trigger extends NewTrigger {
  filter: string | null;
  debounceMs: number | null;
  policies: readonly Policy[];
  id: string;
  isPaused: boolean;
  createdAt: number;
}

export interface OutsideEvent {
  /** Who says so: `@emit`, `@step` (a process of a step), `@webhook`, `@file`; no run can have such a handle. */
  source: string;
  /** The same id and name from the same source again is the same event. */
  id: string;
  name: string;
  data: Json;
  /** The project it belongs to: only triggers of that project see it. Null: every trigger does. */
  project: string | null;
}

/**
 * `held`: a run of the trigger that is under way sees the event itself; `taken`: it did. `superseded`: a later event
 * came soon after, and starts the run.
 */
export type StartState = 'waiting' | 'started' | 'refused' | 'held' | 'taken' | 'superseded';

/** What the filter of a trigger says of an event. */
export type VerdictOf = (filter: string, event: TriggerStart['event']) => { holds: boolean } | { fault: string };

/** Whether a start may be performed, where a trigger has one run at a time. */
export type Turn = 'now' | 'later' | 'held';

/** One event that one trigger matched. */
export interface TriggerStart {
  handle: string;
  state: StartState;
  /** Why it was refused, or has not been started yet. */
  reason: string | null;
  /** The run that sees the event in place of one of its own, or that a later event starts. */
  heldBy: string | null;
  event: { seq: number; id: string; name: string; data: Json; at: number };
}

/** Starts on one queue, or on all but those whose names match a regular expression. */
export type StartsOf = { queue: string } | { notOn: string };

/** A start that this process is to perform before its lease ends. */
export interface ClaimedStart extends TriggerStart {
  trigger: Trigger;
  attempts: number;
}

/** Each lock is held by one process of all that share the database, until it releases it or ends. */
export interface TriggerLocks {
  take(name: string): Promise<boolean>;
  release(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface TriggerStore {
  /** Registers a definition for a project, or replaces what was registered there under that name. */
  add(trigger: NewTrigger): Promise<{ trigger: Trigger; isNew: boolean }>;
  list(): Promise<Trigger[]>;
  /** False when there is no such trigger. */
  pause(id: string, isPaused: boolean): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  /** The newest starts of a trigger first. */
  starts(id: string, limit: number): Promise<TriggerStart[]>;
  /**
   * Compares events with the triggers, within the session in which these are done with them. How many starts there may be
   * to claim afterwards. `verdictOf`: needed where a trigger has a filter.
   */
  spread(session: Session, events: readonly FedEvent[], verdictOf?: VerdictOf): Promise<number>;
  /** `of`: whose starts; default: all. */
  claim(limit: number, leaseMs: number, of?: StartsOf): Promise<ClaimedStart[]>;
  /** Asked before performing a start of a definition that itself loops over the events that start it. */
  takeTurn(start: ClaimedStart): Promise<Turn>;
  settle(
    start: ClaimedStart,
    how:
      | { state: 'started' }
      | { state: 'refused'; reason: string }
      | { state: 'waiting'; reason: string; retryMs: number },
  ): Promise<void>;
  /** False when that event had been published before. */
  publish(event: OutsideEvent): Promise<{ seq: number; isNew: boolean }>;
  /** Projects in which a trigger or a run waits for events whose names begin with `file:`. */
  projectsAwaitingFiles(): Promise<string[]>;
  /** Whether a worker watches the files of the project by now: what changes from here on is seen. */
  isWatched(project: string): Promise<boolean>;
  /** `onLost`: the locks are gone with their connection. */
  locks(onLost: () => void): TriggerLocks;
  /** Hears that something was published. */
  listen(): Subscription;
  /** Hears that files may be waited for in another project. */
  listenForFiles(pollMs: number): Subscription;
}
