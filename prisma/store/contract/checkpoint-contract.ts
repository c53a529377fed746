/**
 * States of a project before and after the steps of runs that may write to it. The states themselves are git
 * trees in a folder of the worker's host (operations/checkpoints/); a row names the two of a step.
 */
import type { RowSink } from './session-contract.ts';

/** Size and time of change of files that are too large to keep, by path. */
export interface LargeFiles {
  readonly [path: string]: string;
}

/** A state of a project: a git tree, and what it leaves out. */
export interface ProjectState {
  tree: string;
  large: LargeFiles;
}

export interface CheckpointOf {
  handle: string;
  /** Of the step; `undo-1` and so on for what a person took back. */
  key: string;
}

export interface NewCheckpoint extends CheckpointOf {
  /** `shell`, the name of a command, or `undo`. */
  what: string;
  /** The real path of the project. */
  project: string;
  /** The git folder that holds the trees. */
  place: string;
  /** A process that its step did not wait for: others may have written meanwhile. */
  isBackground: boolean;
  /** Null where none could be taken. */
  before: ProjectState | null;
  /** Why there is no state before; or where there is one, why there is none after. */
  skipped: string | null;
  /** When the look at the state before began, by the clock of the worker's host. */
  takenAt: number;
  /** When that look had ended: what the step does is done after it. */
  begunAt: number;
  /** All that the step can write, from the root of the project; null where nobody can say. */
  paths: readonly string[] | null;
}

export interface Checkpoint extends NewCheckpoint {
  /** In the order of taking. */
  position: number;
  /** Null while the step is under way, and for good where nobody saw it end. */
  after: ProjectState | null;
  /** When the look at the state after began: what the step did was done before it. */
  closedAt: number | null;
  /** When the look at the state after had ended, by the same clock. */
  endedAt: number | null;
}

/** One that may have been under way in some time. */
export interface BesideCheckpoint extends Checkpoint {
  /** When it had ended; where nobody saw that, when its run had. Null: it may go on. */
  until: number | null;
}

export interface EndTimes {
  closedAt: number;
  endedAt: number;
}

/** The same rows, for a commit of somebody else. */
export interface LaterCheckpoints {
  begin(checkpoint: NewCheckpoint): void;
  end(of: CheckpointOf, after: ProjectState, times: EndTimes): void;
  endUnseen(of: CheckpointOf, why: string, times: EndTimes): void;
}

export interface Checkpoints {
  /**
   * Into a session, which writes them with its commit: as many as there are, in one statement with the rest of it. The
   * two rows of one step go into two commits, because what it does lies between them.
   */
  later(sink: RowSink): LaterCheckpoints;
  /** Of an attempt that was lost the first state stays; the end is then still to come. */
  begin(checkpoint: NewCheckpoint): Promise<Checkpoint>;
  end(of: CheckpointOf, after: ProjectState, times: EndTimes): Promise<void>;
  /** It has ended, and no state could be taken then; of one without a state before, when that was. */
  endUnseen(of: CheckpointOf, why: string, times: EndTimes): Promise<void>;
  find(of: CheckpointOf): Promise<Checkpoint | null>;
  /** Of the run and all runs nested in it, in the order of taking. */
  ofRun(handle: string): Promise<Checkpoint[]>;
  /** Of all runs in a project: those under way at any moment of a time. `to`: null means until now. */
  beside(place: string, time: { from: number; to: number | null }): Promise<BesideCheckpoint[]>;
  /** Removes those that are older than the trees are kept. */
  sweep(): Promise<void>;
}

/** How long a state is kept after it was last taken. */
export const CHECKPOINT_DAYS = 30;
