/** Groups of runs within a project, of which one run at a time goes on. */

export interface GroupWish {
  handle: string;
  project: string;
  group: string;
  /** When the run was started: those who wait have their turn in this order. */
  since: number;
  /** `leave`: where others are before it, the run gets no place. `end-earlier`: the others are to end. */
  whenHeld: 'wait' | 'leave' | 'end-earlier';
}

/** `before`: the runs that have the group or wait for it, the one that has it first; null: this run has it. */
export interface GroupStanding {
  before: string[] | null;
  /** Null while nobody has it. */
  holder: string | null;
  /** Those of `before` that were started after it, and asked first. */
  later?: string[];
  /** A run that was started after it and ends those before: this one has no turn. */
  endedBy?: string;
}

/** The place of a run that has not ended. */
export interface PlaceInGroup {
  handle: string;
  group: string;
  isTaken: boolean;
  /** The run that has the group; null while nobody does. */
  holder: string | null;
  /** How many are before it. */
  ahead: number;
}

export interface GroupStore {
  /** Asked again by the same run, it keeps its place. */
  ask(wish: GroupWish): Promise<GroupStanding>;
  /** The places of these runs; those that have ended, or never asked, have none. */
  placesOf(handles: readonly string[]): Promise<PlaceInGroup[]>;
  /** Forgets the places of runs that have ended. */
  sweep(): Promise<void>;
}
