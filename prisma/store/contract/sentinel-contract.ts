/**
 * Saved sentinels: a name that a persona has saved in a project, and what it finds. A name is looked up as that of the
 * persona that asks, then as one of its project, then as a public one, then as any; of two that are as near, what a person
 * saved comes first, and then what was saved last.
 */
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import type { Session } from './session-contract.ts';

/** Who asks what a name finds. */
export interface Seeker {
  persona: string;
  /** Absolute. */
  project: string;
}

/** For whom something is saved, and what is said of it; what is left out stays as it was. */
export interface Saving extends Seeker {
  /** Whether a person saves it, and no step of a run. */
  isPerson: boolean;
  /** Public unless it was said otherwise. */
  isPublic?: boolean | undefined;
  tags?: readonly string[] | undefined;
  /** The persona that owns the one it was made from. */
  parentPersona?: string | undefined;
  /** Where it came from. */
  origin?: Json | undefined;
}

/** It is nobody's until a person saves something under its name. */
export const NOBODYS: Saving = { persona: '', project: '', isPerson: true };

/** Of the runs of its versions; those that were cancelled, or go on, count as runs alone. */
export interface SentinelStatistics {
  runCount: number;
  /** Of the runs that have ended, between 0 and 1; null before the first has. */
  successRate: number | null;
  averageDurationMs: number | null;
  /** In milliseconds since the epoch. */
  lastRunAt: number | null;
}

export interface SavedSentinel extends Seeker, SentinelStatistics {
  id: number;
  name: string;
  /** Of its definition, and the number of that version. */
  hash: string;
  version: number;
  definition: Definition;
  tags: string[];
  isPublic: boolean;
  byPerson: boolean;
  parentPersona: string | null;
  origin: Json;
  /** In milliseconds since the epoch, as the next. */
  createdAt: number;
  savedAt: number;
}

export interface SentinelQuery {
  /** Whose, and of which project; all where nothing is said. */
  persona?: string;
  project?: string;
  /** Behind this name, in their order. */
  after?: string;
  limit?: number;
}

export interface SentinelVersion {
  version: number;
  hash: string;
  definition: Definition;
  savedAt: number;
}

export interface Sentinels {
  /** Saves it, and the name finds it from then on; committed with the session. */
  save(session: Session, definition: Definition, by: Saving): Promise<SavedSentinel>;
  /** What a name finds, or whose version a hash is. */
  find(session: Session, nameOrHash: string, seeker: Seeker): Promise<SavedSentinel | null>;
  /** That of this persona in this project, and no other. */
  own(session: Session, name: string, owner: Seeker): Promise<SavedSentinel | null>;
  /** By name, then by owner: a name may be several's. */
  list(session: Session, query: SentinelQuery): Promise<SavedSentinel[]>;
  /** The newest first. */
  versions(session: Session, id: number): Promise<SentinelVersion[]>;
}

/** The collection that shows them as records, which nobody writes there. */
export const SENTINELS_COLLECTION = 'sentinels';
