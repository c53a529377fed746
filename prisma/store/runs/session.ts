/**
 * The SQL of one segment or one quick command (contract.ts: OpenSession).
 *
 * Invariants: from the first statement on that is not shared the session has one connection, and from the
 * first write on one transaction, in which every statement waits for the one before. Rows handed to `later` go out
 * before the next statement, or within the commit when there is none. A statement that fails inside
 * the transaction breaks the session: all later calls reject and nothing is kept. The connection goes
 * back to the pool exactly once.
 */
import { DatabaseError } from 'pg';
import type { PoolClient } from 'pg';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import { commitStatement } from './commit-statement.ts';
import type { Statement } from './commit-statement.ts';
import type { BulkInsert, KeyedRead, OpenSession, SessionEntry } from '../contract/session-contract.ts';
import { queryOn, rollback } from '../connection/database.ts';
import type { Database } from '../connection/database.ts';
import { CommitRefused, JournalConflict, PlaceTaken } from '../contract/journal-conflict.ts';
import { isAway } from '../connection/unavailable.ts';
import { keyedStatement, type SharedReads } from './shared-reads.ts';
import { crashPoint } from '../../../world/crash-points/crash-point.ts';

/**
 * A segment lasts a quarter of a second. A transaction whose host vanished must not hold its locks
 * until TCP gives up, nor may whoever waits for them hold its connection.
 */
const BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '15s'; SET LOCAL lock_timeout = '30s'";

/** Goes back to the mark, and ends it. */
const TAKE_BACK = 'rollback to savepoint mark; release savepoint mark';

export class StoreSession implements OpenSession {
  readonly #database: Database;
  readonly #sharedReads: SharedReads;
  readonly #committed: (handle: string, events: readonly RunEvent[]) => void;
  /** Sessions with an open transaction, for the store to undo when it closes. */
  readonly #open: Set<StoreSession>;
  #client: PoolClient | undefined;
  #isTransaction = false;
  readonly #rows = new Map<BulkInsert, string[]>();
  #broken: { cause: unknown } | undefined;
  #ended = false;
  /** The statement in flight; the next one starts after it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    database: Database,
    sharedReads: SharedReads,
    open: Set<StoreSession>,
    committed: (handle: string, events: readonly RunEvent[]) => void,
  ) {
    this.#database = database;
    this.#sharedReads = sharedReads;
    this.#open = open;
    this.#committed = committed;
  }

  read<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#run(false, (client) => queryOn<Row>(client, text, values));
  }

  find<Row extends object>(read: KeyedRead, key: readonly string[]): Promise<Row | undefined> {
    return this.#afterOthers(async () => {
      const isOwn = this.#isTransaction || this.#rows.size > 0;
      if (!isOwn) return await this.#share<Row>(read, key);
      const { text, values } = keyedStatement(read, [key]);
      const [row] = await this.#ask(false, (client) => queryOn<Row>(client, text, values));
      return row;
    });
  }

  write<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#run(true, (client) => queryOn<Row>(client, text, values));
  }

  get isWriting(): boolean {
    return this.#isTransaction || this.#rows.size > 0;
  }

  mark(): Promise<void> {
    return this.#run(true, async (client) => void (await client.query('savepoint mark')));
  }

  keep(): Promise<void> {
    return this.#run(true, async (client) => void (await client.query('release savepoint mark')));
  }

  takeBack(): Promise<void> {
    return this.#run(true, async (client) => void (await client.query(TAKE_BACK)));
  }

  async attempt<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const done = await this.#run(true, async (client): Promise<{ rows: Row[] } | { refused: DatabaseError }> => {
      try {
        // Unprepared: nobody knows how many texts others have.
        return { rows: (await client.query<Row>({ text, values: [...values] })).rows };
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        await client.query('rollback to savepoint mark');
        return { refused: error };
      }
    });
    if ('refused' in done) throw done.refused;
    return done.rows;
  }

  later(insert: BulkInsert, row: string): void {
    this.#assertOpen();
    const rows = this.#rows.get(insert);
    if (rows === undefined) this.#rows.set(insert, [row]);
    else rows.push(row);
  }

  #takeRows(): { text: (rows: string) => string; rows: string }[] {
    const taken = Array.from(this.#rows, ([insert, rows]) => ({ text: insert.text, rows: `[${rows.join(',')}]` }));
    this.#rows.clear();
    return taken;
  }

  async commit({ handle, key, result, events, forget, ...numbers }: SessionEntry): Promise<void> {
    await this.#afterOthers(async () => {
      this.#assertOpen();
      this.#ended = true;
      const statement = commitStatement({
        handle,
        events,
        journal: { key, result, ...numbers },
        inserts: this.#takeRows(),
        ...defined({ forget }),
      });
      if (statement === null) throw new Error('bug: a commit always journals');
      try {
        await this.#finish(statement, { handle, key });
      } catch (error) {
        if (isViolation(error, 'journal_pkey')) throw new JournalConflict(handle, key, error);
        if (isViolation(error, 'journal_handle_place_key')) throw new PlaceTaken(handle, key, error);
        if (error instanceof DatabaseError && !isAway(error)) throw new CommitRefused(handle, key, error);
        throw error;
      }
    });
    this.#committed(handle, events);
  }

  async end(): Promise<void> {
    await this.#afterOthers(async () => {
      this.#assertOpen();
      this.#ended = true;
      await this.#finish(commitStatement({ handle: '', events: [], inserts: this.#takeRows() }));
    });
  }

  async close(): Promise<void> {
    await this.#afterOthers(async () => {
      this.#ended = true;
      await this.#rollback();
    });
  }

  #run<Result>(isWrite: boolean, ask: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return this.#afterOthers(() => this.#ask(isWrite, ask));
  }

  async #ask<Result>(isWrite: boolean, ask: (client: PoolClient) => Promise<Result>): Promise<Result> {
    this.#assertOpen();
    const waiting = this.#takeRows();
    try {
      const client = await this.#connected();
      if ((isWrite || waiting.length > 0) && !this.#isTransaction) await this.#begin(client);
      for (const insert of waiting) await queryOn(client, insert.text('$1'), [insert.rows]);
      return await ask(client);
    } catch (error) {
      this.#broken = { cause: error };
      await this.#rollback();
      throw error;
    }
  }

  async #share<Row extends object>(read: KeyedRead, key: readonly string[]): Promise<Row | undefined> {
    this.#assertOpen();
    try {
      return await this.#sharedReads.find<Row>(read, key);
    } catch (error) {
      this.#broken = { cause: error };
      throw error;
    }
  }

  async #connected(): Promise<PoolClient> {
    this.#client ??= await this.#database.pool.connect();
    this.#open.add(this);
    return this.#client;
  }

  async #begin(client: PoolClient): Promise<void> {
    this.#isTransaction = true;
    await client.query(BEGIN);
  }

  /** Null: nothing more is written. */
  async #finish(statement: Statement | null, at: { handle?: string; key?: string } = {}): Promise<void> {
    const client = this.#client;
    if (client === undefined) {
      if (statement !== null) await this.#database.query(statement.text, statement.values);
      crashPoint('session.committed', at);
      return;
    }
    try {
      if (statement !== null) await queryOn(client, statement.text, statement.values);
      crashPoint('session.written', at);
      if (this.#isTransaction) await client.query('COMMIT');
      crashPoint('session.committed', at);
    } catch (error) {
      await this.#rollback();
      throw error;
    }
    this.#client = undefined;
    this.#open.delete(this);
    client.release();
  }

  async #rollback(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#open.delete(this);
    if (client === undefined) return;
    if (this.#isTransaction) await rollback(client);
    else client.release();
  }

  #assertOpen(): void {
    if (this.#broken !== undefined) {
      throw new Error(
        'an earlier statement of this session failed, so nothing of it is kept; open a new session',
        this.#broken,
      );
    }
    if (this.#ended) throw new Error('bug: the session was already committed or closed');
  }

  #afterOthers<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function isViolation(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === constraint;
}
