/**
 * Indexes of records that projects ask for: each is partial, of one collection, and made while records are read and
 * written. What there is stands with the indexes themselves, in their comments, so that one that somebody drops is gone.
 */
import { createHash } from 'node:crypto';
import { DatabaseError, escapeLiteral, type PoolClient } from 'pg';
import * as z from 'zod';
import { toJsonbString } from '../connection/jsonb-text.ts';
import type { Database } from '../connection/database.ts';
import type { Session } from '../contract/session-contract.ts';
import type { IndexState, MadeIndex, RecordIndex, Records } from '../contract/record-contract.ts';
import { column, keyOf, NO_INDEXES, type IndexedFields } from './record-filter.ts';

/** How long what a store knows of indexes is used. */
const KNOWN_MS = 10_000;

const PREFIX = 'records_by_';
const LOCK = "hashtext('sentinel record indexes')";

const Field = z.strictObject({ field: z.string(), direction: z.enum(['asc', 'desc']) });
const Comment = z.strictObject({ collection: z.string(), fields: z.array(Field) });

interface IndexRow {
  name: string;
  isValid: boolean;
  isBuilding: boolean;
  comment: string | null;
}

const THERE = `select c.relname::text as name, i.indisvalid as "isValid", obj_description(c.oid, 'pg_class') as comment,
    exists (select 1 from pg_stat_progress_create_index p where p.index_relid = c.oid) as "isBuilding"
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = 'records'::regclass and starts_with(c.relname, '${PREFIX}') order by name`;

function nameOf({ collection, fields }: RecordIndex): string {
  const said = JSON.stringify([collection, fields.map(({ field, direction }) => [field, direction])]);
  return `${PREFIX}${createHash('sha256').update(said).digest('hex').slice(0, 20)}`;
}

/** An index takes no parameters: the path of a field is a literal. */
const literal = (path: unknown): string =>
  Array.isArray(path) ? `array[${path.map((part) => escapeLiteral(String(part))).join(', ')}]` : '';

function createText(index: RecordIndex): string {
  const keys = index.fields.map(({ field, direction }) => keyOf(column(literal, field), direction === 'desc'));
  const collection = escapeLiteral(toJsonbString(index.collection));
  return `create index concurrently ${nameOf(index)} on records (${[...keys, 'position'].join(', ')}) where collection = ${collection}`;
}

export class RecordIndexes {
  readonly #database: Database;
  #known: Map<string, Map<string, boolean>> | undefined;
  #asked = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Those that can be used, as was known a while ago: the plan is Postgres's, and the result is the same without. What is
   * not known yet is asked over the session: one that holds a connection must not wait for another.
   */
  async of(session: Pick<Session, 'read'>, collection: string): Promise<IndexedFields> {
    if (this.#known === undefined) this.#note(await session.read<IndexRow>(THERE, []));
    else if (Date.now() - this.#asked > KNOWN_MS) this.#lookAgain();
    return this.#known?.get(collection) ?? NO_INDEXES;
  }

  #lookAgain(): void {
    this.#asked = Date.now();
    // Where the database is away, what was known counts on.
    this.#there().then(
      (rows) => this.#note(rows),
      () => undefined,
    );
  }

  #note(rows: readonly IndexRow[]): void {
    const known = new Map<string, Map<string, boolean>>();
    for (const { isValid, comment } of rows) {
      const read = Comment.safeParse(comment === null ? null : JSON.parse(comment));
      if (!isValid || !read.success) continue;
      const fields = known.get(read.data.collection) ?? new Map<string, boolean>();
      // Of one that two indexes have, the first: it can be asked for in one way alone.
      for (const { field, direction } of read.data.fields)
        if (!fields.has(field)) fields.set(field, direction === 'desc');
      known.set(read.data.collection, fields);
    }
    [this.#known, this.#asked] = [known, Date.now()];
  }

  #there(): Promise<IndexRow[]> {
    return this.#database.query<IndexRow>(THERE, []);
  }

  async states(indexes: readonly RecordIndex[]): Promise<IndexState[]> {
    const there = new Map((await this.#there()).map((row) => [row.name, row]));
    return indexes.map((index) => ({ ...index, name: nameOf(index), state: stateOf(there.get(nameOf(index))) }));
  }

  async make(indexes: readonly RecordIndex[]): Promise<MadeIndex[]> {
    if (indexes.length === 0) return [];
    const missing = (await this.states(indexes)).filter(({ state }) => state !== 'ready');
    if (missing.length === 0) return [];
    const client = await this.#database.pool.connect();
    try {
      return await alone(client, () => this.#makeAll(client, indexes));
    } finally {
      // What it holds ends with it, a lock that is not given back, too.
      client.release(true);
      this.#known = undefined;
    }
  }

  /** Looked at again: another process may have made them while this one waited for its connection. */
  async #makeAll(client: PoolClient, indexes: readonly RecordIndex[]): Promise<MadeIndex[]> {
    const made: MadeIndex[] = [];
    for (const { collection, fields, name, state } of await this.states(indexes)) {
      if (state === 'ready') continue;
      made.push({ collection, fields, name, failure: await makeOne(client, { collection, fields }) });
    }
    // The planner knows what the keys are like by what it has counted.
    if (made.some(({ failure }) => failure === null)) await client.query('analyze records');
    return made;
  }
}

function stateOf(row: IndexRow | undefined): IndexState['state'] {
  if (row === undefined) return 'missing';
  if (row.isValid && row.comment !== null) return 'ready';
  return row.isBuilding ? 'building' : 'broken';
}

/** Does nothing where another process is at it: it waits for none, since an index waits for whoever waits. */
async function alone(client: PoolClient, make: () => Promise<MadeIndex[]>): Promise<MadeIndex[]> {
  const { rows } = await client.query<{ isMine: boolean }>(`select pg_try_advisory_lock(${LOCK}) as "isMine"`);
  return rows[0]?.isMine === true ? make() : [];
}

/** Why it was not made. Half an index of an attempt before is removed first. */
async function makeOne(client: PoolClient, index: RecordIndex): Promise<string | null> {
  const name = nameOf(index);
  try {
    await client.query(`drop index concurrently if exists ${name}`);
    await client.query(createText(index));
    await client.query(`comment on index ${name} is ${escapeLiteral(JSON.stringify(index))}`);
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return error.message;
  }
}

export const indexesOf = (indexes: RecordIndexes): Pick<Records, 'makeIndexes' | 'indexStates'> => ({
  makeIndexes: (wanted) => indexes.make(wanted),
  indexStates: (wanted) => indexes.states(wanted),
});
