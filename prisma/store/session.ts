/**
 * The SQL of one segment or one quick command (contract.ts: OpenSession).
 *
 * Invariants: before the first write nothing is open and reads go to the pool; from the first write
 * on every statement goes through one transaction, one after another. A statement that fails inside
 * the transaction breaks the session: all later calls reject and nothing is kept. The connection goes
 * back to the pool exactly once.
 */
import { DatabaseError } from 'pg';
import type { PoolClient } from 'pg';
import type { Json } from '../../language/json.ts';
import type { RunEvent } from '../../language/run-event.ts';
import { commitStatement } from './commit-statement.ts';
import type { Statement } from './commit-statement.ts';
import type { OpenSession } from './contract.ts';
import { queryOn, rollback } from './database.ts';
import type { Database } from './database.ts';
import { JournalConflict } from './journal-conflict.ts';

/**
 * A segment lasts a quarter of a second. A transaction whose host vanished must not hold its locks
 * until TCP gives up, nor may whoever waits for them hold its connection.
 */
const BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '15s'; SET LOCAL lock_timeout = '30s'";

export class StoreSession implements OpenSession {
  readonly #database: Database;
  readonly #committed: (handle: string, events: readonly RunEvent[]) => void;
  /** Sessions with an open transaction, for the store to undo when it closes. */
  readonly #open: Set<StoreSession>;
  #client: PoolClient | undefined;
  #writing = false;
  #broken: { cause: unknown } | undefined;
  #ended = false;
  /** The statement in flight; the next one starts after it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: Database, open: Set<StoreSession>, committed: (handle: string, events: readonly RunEvent[]) => void) {
    this.#database = database;
    this.#open = open;
    this.#committed = committed;
  }

  async read<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    this.#assertOpen();
    if (!this.#writing) return this.#database.query<Row>(text, values);
    return this.#inTransaction<Row>(text, values);
  }

  write<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    this.#writing = true;
    return this.#inTransaction<Row>(text, values);
  }

  async commit(entry: { handle: string; key: string; result: Json; events: RunEvent[]; forget?: string[] }): Promise<void> {
    const { handle, key, result, events, forget } = entry;
    const statement = commitStatement({ handle, events, journal: { key, result }, ...(forget === undefined ? {} : { forget }) });
    if (statement === null) throw new Error('bug: a commit always journals');
    await this.#afterOthers(async () => {
      this.#assertOpen();
      this.#ended = true;
      try {
        await this.#finish(statement);
      } catch (error) {
        if (isJournalViolation(error)) throw new JournalConflict(handle, key, error);
        throw error;
      }
    });
    this.#committed(handle, events);
  }

  async close(): Promise<void> {
    await this.#afterOthers(async () => {
      this.#ended = true;
      await this.#rollback();
    });
  }

  #inTransaction<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#afterOthers(async () => {
      this.#assertOpen();
      try {
        this.#client ??= await this.#begin();
        return await queryOn<Row>(this.#client, text, values);
      } catch (error) {
        this.#broken = { cause: error };
        await this.#rollback();
        throw error;
      }
    });
  }

  async #begin(): Promise<PoolClient> {
    const client = await this.#database.pool.connect();
    try {
      await client.query(BEGIN);
      this.#open.add(this);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #finish(statement: Statement): Promise<void> {
    const client = this.#client;
    if (client === undefined) {
      await this.#database.query(statement.text, statement.values);
      return;
    }
    try {
      await queryOn(client, statement.text, statement.values);
      await client.query('COMMIT');
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
    if (client !== undefined) await rollback(client);
  }

  #assertOpen(): void {
    if (this.#broken !== undefined) {
      throw new Error('an earlier statement of this session failed, so nothing of it is kept; open a new session', this.#broken);
    }
    if (this.#ended) throw new Error('bug: the session was already committed or closed');
  }

  #afterOthers<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function isJournalViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === 'journal_pkey';
}
