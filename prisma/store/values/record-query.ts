/** Statements over the records of a collection. */
import type { JsonObject } from '../../../language/json.ts';
import { SENTINELS_COLLECTION } from '../contract/sentinel-contract.ts';
import type { RecordChoice, RecordOrder, RecordQuery } from '../contract/record-contract.ts';
import {
  column,
  jsonbText,
  keyOf,
  NO_INDEXES,
  whereOf,
  type Add,
  type IndexedFields,
  type Where,
} from './record-filter.ts';

/** Saved sentinels are a collection of their own. */
export const sourceOf = (collection: string): string =>
  collection === SENTINELS_COLLECTION ? 'sentinel_records' : 'records';

export const COLUMNS = 'collection, id, data, created_at as "createdAt", version';

const LIST_DEFAULT = 1_000;
const LIST_MAX = 100_000;

export interface Statement {
  text: string;
  values: unknown[];
}

/** What is written is given to `add`, which answers with its place. */
export function statementOf(indexed: IndexedFields, write: (where: Where) => string): Statement {
  const values: unknown[] = [];
  const text = write({ add: (value) => `$${values.push(value)}`, indexed });
  return { text, values };
}

export const recordQuery = (query: RecordQuery, indexed: IndexedFields = NO_INDEXES): Statement =>
  statementOf(indexed, (where) => {
    const chosen = whereOf(where, query);
    const limit = where.add(limitOf(query.limit));
    const offset = where.add(bound('offset', query.offset ?? 0));
    return `select ${COLUMNS} from ${sourceOf(query.collection)} where ${chosen} order by ${orderOf(where.add, query.orderBy)} limit ${limit} offset ${offset}`;
  });

export const limitOf = (limit = LIST_DEFAULT): number => Math.min(bound('limit', limit), LIST_MAX);

function bound(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new Error(`${name} must be a whole number from 0, not ${value}`);
  return value;
}

/** Keys of fields, each the smallest first, whatever the direction. */
export const keysOf = (add: Add, orderBy: readonly RecordOrder[]): string[] =>
  orderBy.map(({ field, direction }) => {
    if (direction !== 'asc' && direction !== 'desc')
      throw new Error(`orderBy "${field}": direction must be asc or desc, not ${JSON.stringify(direction)}`);
    return keyOf(column(add, field), direction === 'desc');
  });

const orderOf = (add: Add, orderBy: readonly RecordOrder[] = []): string =>
  orderBy.length === 0 ? 'born, position' : [...keysOf(add, orderBy), 'position'].join(', ');

/** The id, when the query asks for one record by it: the common case, and one look at the key. */
export function onlyId({ collection, filter = {}, orderBy = [], limit = 1, offset = 0 }: RecordQuery): string | null {
  const { id, ...others } = filter;
  if (collection === SENTINELS_COLLECTION) return null;
  return typeof id === 'string' && Object.keys(others).length === 0 && orderBy.length === 0 && limit > 0 && offset === 0
    ? id
    : null;
}

const ofVersion = (add: Add, version: number | undefined): string =>
  version === undefined ? '' : ` and version = ${add(version)}`;

/** Puts the fields into each record that fits; those of the same name are replaced. */
export const recordUpdate = (
  chosen: RecordChoice,
  fields: JsonObject,
  { indexed, version }: { indexed: IndexedFields; version: number | undefined },
): Statement =>
  statementOf(indexed, (where) => {
    const data = where.add(jsonbText(fields));
    const fits = `${whereOf(where, chosen)}${ofVersion(where.add, version)}`;
    return `update records set data = data || ${data}::jsonb, version = version + 1 where ${fits} returning ${COLUMNS}`;
  });

export const recordDelete = (
  chosen: RecordChoice,
  { indexed, version }: { indexed: IndexedFields; version: number | undefined },
): Statement =>
  statementOf(indexed, (where) => {
    const fits = `${whereOf(where, chosen)}${ofVersion(where.add, version)}`;
    return `delete from records where ${fits} returning id`;
  });
