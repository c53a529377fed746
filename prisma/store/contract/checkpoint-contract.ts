/**
 * States of a project before and after the steps of runs that may write to it. The states themselves are git
 * trees in a folder of the worker's host (activities/checkpoints/); a row names the two of a step.
 */

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
}

export interface Checkpoint extends NewCheckpoint {
  /** In the order of taking. */
  position: number;
  /** Null while the step is under way, and for good where nobody saw it end. */
  after: ProjectState | null;
  /** When the look at the state after had ended, by the same clock. */
  endedAt: number | null;
}

export interface Checkpoints {
  /** Of an attempt that was lost the first state stays; the end is then still to come. */
  begin(checkpoint: NewCheckpoint): Promise<Checkpoint>;
  end(of: CheckpointOf, after: ProjectState, endedAt: number): Promise<void>;
  /** It has ended, and no state could be taken then. */
  endUnseen(of: CheckpointOf, why: string): Promise<void>;
  find(of: CheckpointOf): Promise<Checkpoint | null>;
  /** Of the run and all runs nested in it, in the order of taking. */
  ofRun(handle: string): Promise<Checkpoint[]>;
  /** Removes those that are older than the trees are kept. */
  sweep(): Promise<void>;
}

/** How long a state is kept after it was last taken. */
export const CHECKPOINT_DAYS = 30;
