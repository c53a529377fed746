/** The tables that systems bring. */
import type { Session } from './session-contract.ts';

/** SQL by name, in the order in which it is applied: once it has been, it never changes. */
export interface Tables {
  readonly [name: string]: string;
}

/** What is wrong with the tables of a system; all of what failed was undone. */
export class TablesRefused extends Error {
  override readonly name = 'TablesRefused';
}

/** Something that a system does again and again, whichever worker does it. */
export interface BackgroundTask {
  system: string;
  task: string;
  everyMs: number;
}

type TaskName = Pick<BackgroundTask, 'system' | 'task'>;

export interface DueTask {
  /** Of its next performance, from 0. */
  number: number;
  /** How often it has failed since it last did not. */
  failures: number;
}

/** How one stands that has failed, and that some worker tries again. */
export interface HeldTask extends TaskName {
  attempts: number;
  /** Tried again then, in milliseconds since the epoch. */
  notBefore: number;
  failure: string;
}

export interface SystemTables {
  /** It is due at once, or when it was before; at the latest after `everyMs`. */
  openTask(task: BackgroundTask): Promise<void>;
  /**
   * Whether it is due, within a session: nobody else performs it until that has ended, and what is done is committed with
   * the time at which it is due again. Null: it is not, or another worker is at it.
   */
  dueTask(session: Session, task: BackgroundTask): Promise<DueTask | null>;
  /**
   * Milliseconds until one of them is due or has a run that may have ended; not more than 0 where that is now, and never
   * more than its time, wherever the clock has been set.
   */
  untilDue(tasks: readonly BackgroundTask[]): Promise<number>;
  /**
   * The run that performs it, of one that is due and takes long: the one that is under way, or one to be started under
   * this handle, which is drawn once. Null: it is not due.
   */
  dueRun(task: TaskName, handleOf: (due: DueTask) => string): Promise<string | null>;
  /** The run has ended. It counts once. */
  settleRun(task: BackgroundTask, run: string): Promise<void>;
  /** It rests, longer after each failure. `run`: the one that failed, which counts once. How often it has failed. */
  holdTask(task: TaskName, failure: string, run?: string): Promise<number>;
  heldTasks(): Promise<HeldTask[]>;
  /** Applies what has not been applied; the names of that. Throws `TablesRefused`. */
  apply(system: string, tables: Tables): Promise<string[]>;
  /** Those whose tables there are. */
  list(): Promise<string[]>;
}
