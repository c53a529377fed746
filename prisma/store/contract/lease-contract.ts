/** Leases: so many places, of runs or of steps of runs; who asks beyond them waits, in the order of asking. */
import type { Subscription } from './subscription.ts';

/** What asks for it: the groups of runs, the places of personas and the leases of commands are apart, whatever their names are. */
export type LeaseKind = 'group' | 'persona' | 'command';

export interface LeaseName {
  kind: LeaseKind;
  /** Null: the whole installation's. */
  project: string | null;
  name: string;
}

/** A step that asks, or has its place; another attempt at it has the same place. */
export interface AskingStep {
  key: string;
  /** Of the attempt. */
  claim: string;
  /** It is taken to be alive for so long after it was heard of. */
  aliveMs: number;
}

export interface LeaseWish extends LeaseName {
  handle: string;
  /** Absent: the run itself asks, and has its place until it leaves it, or ends. */
  step?: AskingStep;
  capacity: number;
  /** False: the lease has as many places as before, if there is one. */
  states?: boolean;
  /** Those who wait have their turn in this order; absent: in the order of asking. */
  since?: number;
  /** `leave`: where others are before it, it gets no place. `end-earlier`: the others are to end. */
  whenHeld: 'wait' | 'leave' | 'end-earlier';
}

/** `before`: the runs that have the lease or wait for it, those that have it first; null: it has a place. */
export interface LeaseStanding {
  before: string[] | null;
  /** The run that has it the longest; null while nobody has it. */
  holder: string | null;
  /** Those of `before` that were started after it, and asked first. */
  later?: string[];
  /** A run that was started after it and ends those before: this one has no turn. */
  endedBy?: string;
}

/** A place that a run or its step waits for or has. */
export interface PlaceInLease extends LeaseName {
  handle: string;
  /** Its key; null: it is the run's. */
  step: string | null;
  capacity: number;
  isTaken: boolean;
  /** When it was taken; of one that waits, since when it does. */
  since: number;
  /** How many are before it, those that have the lease among them. */
  ahead: number;
  /** The runs that have a place, the one that has it the longest first. */
  holders: string[];
}

export type HeldStep = LeaseName & { handle: string; step: AskingStep };

export interface LeaseStore {
  /** Asked again by the same run or step, it keeps its place. */
  ask(wish: LeaseWish): Promise<LeaseStanding>;
  /** A step that has its place says that it is alive. False: it has it no longer. */
  renew(held: HeldStep): Promise<boolean>;
  /** A step leaves its place, taken or not; one that another attempt has asked for stays. */
  release(held: HeldStep): Promise<void>;
  /** A run leaves its place, taken or not, and is told of the runs that have their turn now, and no place yet. */
  leave(name: LeaseName, handle: string): Promise<string[]>;
  /** The runs that would have their turn, and no place yet, if the lease had so many places. */
  turns(name: LeaseName, capacity: number): Promise<string[]>;
  /** Hears that places of a lease were left; `pollMs`: how long a lost word may go unnoticed. */
  listen(name: LeaseName, pollMs: number): Subscription;
  /** The places of these runs and their steps; those that have ended, or never asked, have none. */
  placesOf(handles: readonly string[]): Promise<PlaceInLease[]>;
  /** All there are, lease by lease, those that have it first. */
  places(limit: number): Promise<PlaceInLease[]>;
  /** Forgets the places of what has ended. */
  sweep(): Promise<void>;
}
