/** What the store offers to the steps of a segment: reads and writes that commit together with its events. */
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Json } from '../../../language/json.ts';

/** Rows of one table, written together: `text` is an insert of all rows in a parameter, an array of JSON. */
export interface BulkInsert {
  text: (rows: string) => string;
}

/** Takes rows that go out with a commit of somebody else. */
export type RowSink = Pick<Session, 'later'>;

/** Rows that wait for a commit. */
export class WaitingRows implements RowSink {
  readonly all: Parameters<RowSink['later']>[] = [];

  later(insert: BulkInsert, row: string): void {
    this.all.push([insert, row]);
  }
}

/**
 * One row by its key: of which texts, in which order, `text` takes an array each; a row says at which `place`, from 1, its key stands.
 * `within`, which costs a fraction, is for keys that differ in their last text only: it takes the other texts as they are.
 */
export interface KeyedRead {
  text: string;
  within?: string;
}

/**
 * SQL of one quick command. Reads need no transaction until the first write opens one; from then on
 * both go through it, so a segment reads its own writes and commits as one.
 */
export interface Session {
  /** Whether there is a transaction, which a close would undo. */
  readonly isWriting: boolean;
  /** A row, as JSON text, that goes out with the commit, or before the next statement. It must not be able to fail. */
  later(insert: BulkInsert, row: string): void;
  read<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Undefined where there is no such row. Until the session writes, sessions that ask at the same time share a statement. */
  find<Row extends object>(read: KeyedRead, key: readonly string[]): Promise<Row | undefined>;
  write<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** From here on, statements of `attempt` can be taken back; ends with `keep` or `takeBack`, and nests. */
  mark(): Promise<void>;
  keep(): Promise<void>;
  takeBack(): Promise<void>;
  /** A statement after `mark`: where the database refuses it, all since the mark is taken back, and the session goes on. */
  attempt<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
}

export interface SessionEntry {
  handle: string;
  key: string;
  result: Json;
  events: RunEvent[];
  forget?: string[];
  /** Nobody forgets the row. */
  lasts?: boolean;
  seq?: number;
  place?: number;
}

export interface OpenSession extends Session {
  /**
   * Commits the session's writes together with one journal row and the run's events, and forgets
   * the journal rows of the run named in `forget`. Rejects with `JournalConflict` when another
   * attempt already journaled `key`, and with `PlaceTaken` when one journaled another key at this
   * `place`; then nothing of this session was kept. `seq`: of a segment, what its events have numbers
   * after; `place`: the same, to be no other's.
   */
  commit(entry: SessionEntry): Promise<void>;
  /** Commits the session's writes alone. */
  end(): Promise<void>;
  /** Undoes everything; safe to call after commit. */
  close(): Promise<void>;
}
