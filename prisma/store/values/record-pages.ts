/**
 * Pages of records, each of which goes on where the one before ended.
 *
 * With an order, a cursor holds the keys of the last record. Without one, records are in the order of the transactions
 * that wrote them first, and one that is committed late may stand before what has been shown: so the cursor also holds
 * the snapshot of its page, and what that could not see is still to come, wherever it stands.
 *
 * Invariant: what a cursor says is checked before Postgres reads it, since a statement that fails ends a transaction.
 */
import * as z from 'zod';
import { CursorRefused, type RecordPageQuery } from '../contract/record-contract.ts';
import { contentHash } from './content-hash.ts';
import { whereOf, type Add, type IndexedFields, type Where } from './record-filter.ts';
import { COLUMNS, keysOf, limitOf, sourceOf, statementOf, type Statement } from './record-query.ts';

const UNSIGNED = /^(?:0|[1-9]\d{0,18})$/;
const Xid = z.string().regex(UNSIGNED);
const Snapshot = z
  .string()
  .regex(/^\d{1,19}:\d{1,19}:(?:\d{1,19}(?:,\d{1,19})*)?$/)
  .refine(isSnapshot);
const Position = z.number().int().nonnegative();

/** A page showed all that its snapshot, or its own transaction, had written up to there. */
const Shown = z.strictObject({ born: Xid, position: Position, snapshot: Snapshot, own: Xid.nullable() });
type Shown = z.infer<typeof Shown>;

const Key = z.string().refine((key) => !key.includes('\0'));
const Cursor = z.strictObject({
  /** Of the query. */
  of: z.string(),
  /** Of one with an order; null at its start. */
  after: z.strictObject({ keys: z.array(Key), position: Position }).nullable(),
  shown: z.array(Shown).max(1_000),
});
type Cursor = z.infer<typeof Cursor>;

/** Postgres refuses others: it begins before it ends, and what was under way lies between, in order. */
function isSnapshot(text: string): boolean {
  const [from = '', to = '', under = ''] = text.split(':');
  const within = under === '' ? [] : under.split(',').map(BigInt);
  const numbers = [BigInt(from), ...within, BigInt(to)];
  const isInOrder = numbers.every((number, at) => at === 0 || (numbers[at - 1] ?? 0n) <= number);
  return isInOrder && BigInt(from) > 0n && BigInt(to) < 2n ** 63n && within.every((number) => number < BigInt(to));
}

export interface PageRow {
  /** `born`. */
  xid: string;
  position: number;
  keys: string[] | null;
  snapshot: string;
  own: string | null;
}

const hashOf = ({ collection, filter = {}, orderBy = [] }: RecordPageQuery): string =>
  contentHash({ collection, filter, orderBy }).slice(0, 16);

/** Throws `CursorRefused`. */
function cursorOf(query: RecordPageQuery): Cursor {
  const of = hashOf(query);
  if (query.cursor === null) return { of, after: null, shown: [] };
  const read = Cursor.safeParse(parsed(query.cursor));
  const isOrdered = (query.orderBy ?? []).length > 0;
  const fits =
    read.success &&
    (read.data.after === null || read.data.after.keys.length === query.orderBy?.length) &&
    (!isOrdered || read.data.shown.length === 0);
  if (!read.success || !fits) throw new CursorRefused('it is not one that a page has given');
  if (read.data.of !== of) throw new CursorRefused('it is of a page with another collection, filter or order');
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

const written = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor), 'utf8').toString('base64url');

export interface PageStatement extends Statement {
  limit: number;
  /** Behind these rows, of which the last is shown. */
  cursorAfter: (last: PageRow | undefined) => string;
}

/** It finds one record more than the page has. Throws `CursorRefused`. */
export function pageStatement(query: RecordPageQuery, indexed: IndexedFields): PageStatement {
  const { orderBy = [] } = query;
  const cursor = cursorOf(query);
  const limit = limitOf(query.limit);
  const statement = statementOf(indexed, (where) =>
    orderBy.length === 0 ? inTime(where, query, cursor) : inOrder(where, query, cursor),
  );
  return {
    text: `${statement.text} limit $${statement.values.length + 1}`,
    values: [...statement.values, limit + 1],
    limit,
    cursorAfter: (last) => written(last === undefined ? cursor : behind(cursor, last)),
  };
}

/** None has the name of a column that the order is by: that would order by what is shown of it. */
const PLACE = `born::text as xid, position, pg_current_snapshot()::text as snapshot, pg_current_xact_id_if_assigned()::text as own`;

function inOrder(where: Where, query: RecordPageQuery, { after }: Cursor): string {
  const { add } = where;
  const keys = keysOf(add, query.orderBy ?? []);
  const chosen = whereOf(where, query);
  const order = [...keys, 'position'].join(', ');
  const behindIt =
    after === null
      ? ''
      : ` and (${order}) > (${[...after.keys, after.position].map((value) => typed(add, value)).join(', ')})`;
  return `select ${COLUMNS}, ${PLACE}, array[${keys.join(', ')}] as keys from ${sourceOf(query.collection)} where ${chosen}${behindIt} order by ${order}`;
}

const typed = (add: Add, value: string | number): string =>
  typeof value === 'string' ? `${add(value)}::text` : `${add(value)}::bigint`;

function inTime(where: Where, query: RecordPageQuery, { shown }: Cursor): string {
  const conditions = [
    whereOf(where, query),
    ...startOf(where.add, shown),
    ...shown.map((one) => notShown(where.add, one)),
  ];
  return `select ${COLUMNS}, ${PLACE}, null::text[] as keys from ${sourceOf(query.collection)} where ${conditions.join(' and ')} order by born, position`;
}

const firstUnseen = ({ snapshot }: Shown): bigint => BigInt(snapshot.slice(0, snapshot.indexOf(':')));

/** From where on there may be something that no page has shown, so that the index is read from there. */
function startOf(add: Add, shown: readonly Shown[]): string[] {
  const starts = shown.map((one) => {
    const born = BigInt(one.born);
    const unseen = firstUnseen(one);
    return born < unseen ? { born, position: one.position } : { born: unseen, position: -1 };
  });
  const [latest] = starts.toSorted((a, b) => (a.born === b.born ? b.position - a.position : a.born < b.born ? 1 : -1));
  if (latest === undefined) return [];
  return [`(born, position) > (${add(String(latest.born))}::xid8, ${add(latest.position)}::bigint)`];
}

/** A transaction of another server, from which the database was restored, has a number that is still to come here: it is over. */
function notShown(add: Add, { born, position, snapshot, own }: Shown): string {
  const isOwn = own === null ? '' : ` or born = ${add(own)}::xid8`;
  return `not ((born, position) <= (${add(born)}::xid8, ${add(position)}::bigint)
    and (pg_visible_in_snapshot(born, ${add(snapshot)}::pg_snapshot)${isOwn} or born >= pg_snapshot_xmax(pg_current_snapshot())))`;
}

function behind({ of, shown }: Cursor, { xid: born, position, keys, snapshot, own }: PageRow): Cursor {
  if (keys !== null) return { of, after: { keys, position }, shown: [] };
  const isBehind = (one: Shown): boolean =>
    BigInt(one.born) > BigInt(born) || (one.born === born && one.position > position);
  return { of, after: null, shown: [{ born, position, snapshot, own }, ...shown.filter(isBehind)] };
}
