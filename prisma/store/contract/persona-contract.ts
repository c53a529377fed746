/** What a person has set for the runs of a persona together, and what these have used of it. */
import type { LeaseName } from './lease-contract.ts';
import type { BulkInsert } from './session-contract.ts';

export interface PersonaLimits {
  /** Runs that may be at work at the same time; null: any number. */
  places: number | null;
}

export interface PersonaLimitStore {
  /** Null: nothing is set. Waits for whoever is setting it. */
  of(persona: string): Promise<PersonaLimits | null>;
}

/** What its runs may use in a day; null: any amount. */
export interface DayBudget {
  /** US dollars. */
  usd: number | null;
  tokens: number | null;
  steps: number | null;
  /** Of whose days; an IANA name. */
  timeZone: string;
}

/** What was used of it on a day. */
export interface DayUse {
  usd: number;
  tokens: number;
  steps: number;
}

/** A day: by the calendar (`2026-11-30`), and when it begins, in milliseconds since the epoch. */
export interface DayOfUse {
  date: string;
  from: number;
}

export interface PersonaDayStore {
  /** Null: there is none. `isSettled`: waits for whoever is setting it. */
  budget(persona: string, isSettled?: boolean): Promise<DayBudget | null>;
  used(persona: string, day: DayOfUse): Promise<DayUse>;
  /** The same of many, in their order. */
  usedByEach(asked: readonly { persona: string; day: DayOfUse }[]): Promise<DayUse[]>;
  /** Counts a step that begins; false, and counts none, where there have been `max`. */
  beginStep(persona: string, date: string, max: number): Promise<boolean>;
  /** Counts steps, of rows `[persona, date]`. */
  stepsBegun: BulkInsert;
  /** Notes that a run waits, and until when, where it is known, or was before; in milliseconds since the epoch. */
  wait(handle: string, persona: string, until: number | null): Promise<void>;
  /** It waits no more. */
  go(handle: string): Promise<void>;
  /** By handle, until when those wait that have not ended; in milliseconds since the epoch. */
  waits(handles: readonly string[]): Promise<ReadonlyMap<string, number>>;
  sweep(): Promise<void>;
}

/** The lease whose places its runs take while they are at work. */
export const placesOf = (persona: string): LeaseName => ({ kind: 'persona', project: null, name: persona });
