/**
 * A filter of records as SQL. Names of fields and values are always parameters; the text holds nothing but our own
 * words. A missing field and null are the same but for `$exists`. `id`, `collection`, `createdAt` (milliseconds) and
 * `recordVersion` name the record's own columns; every other field descends into `data`, by its dots.
 *
 * Invariant: no condition is ever SQL's null, so that `$not` is its opposite.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { FIELD_OPERATORS, hasOperator } from '../../../language/params/record-operators.ts';
import type { RecordChoice } from '../contract/record-contract.ts';
import { toJsonbString, toJsonbText } from '../connection/jsonb-text.ts';

/** Characters of a text that `record_key` looks at (the migration "versions_of_records"). */
const KEY_LENGTH = 100;

/** Fields of the collection that have an index, and whether that descends. */
export type IndexedFields = ReadonlyMap<string, boolean>;
export const NO_INDEXES: IndexedFields = new Map();

export type Add = (value: unknown) => string;

export interface Where {
  add: Add;
  indexed: IndexedFields;
}

const COMPARISONS = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const;
type Comparison = keyof typeof COMPARISONS;
const OPPOSITE = { $gt: '$lt', $gte: '$lte', $lt: '$gt', $lte: '$gte' } as const;

/** What keys of numbers and of texts lie between, from the first on and before the second. */
const RANGES = {
  asc: { number: ['a', 'b'], string: ['b', 'c'] },
  desc: { number: ['9e', '9f'], string: ['9d', '9e'] },
} as const;

export function whereOf(where: Where, { collection, filter = {} }: RecordChoice): string {
  return `collection = ${where.add(toJsonbString(collection))} and ${matchFilter(where, filter)}`;
}

function matchFilter(where: Where, filter: JsonObject): string {
  const conditions = Object.entries(filter).map(([name, expected]) => matchEntry(where, name, expected));
  return conditions.length === 0 ? 'true' : `(${conditions.join(' and ')})`;
}

function matchEntry(where: Where, name: string, expected: Json): string {
  switch (name) {
    case '$and':
    case '$or': {
      const filters = listOf(name, expected).map((one) => matchFilter(where, filterIn(name, one)));
      return `(${filters.join(name === '$and' ? ' and ' : ' or ')})`;
    }
    case '$not':
      return `not ${matchFilter(where, filterIn(name, expected))}`;
    default:
      return matchField(where, name, expected);
  }
}

function filterIn(name: string, given: Json): JsonObject {
  if (isJsonObject(given)) return given;
  throw new Error(`filter "${name}": needs an object`);
}

function listOf(name: string, given: Json): Json[] {
  if (Array.isArray(given) && given.length > 0) return given;
  throw new Error(`filter "${name}": needs a list`);
}

/** SQL for the field's value as jsonb; SQL null where it is missing. */
export function column(add: Add, field: string): string {
  switch (field) {
    case 'id':
      return 'to_jsonb(id)';
    case 'collection':
      return 'to_jsonb(collection)';
    case 'createdAt':
      return 'to_jsonb(floor(extract(epoch from created_at) * 1000))';
    case 'recordVersion':
      return 'to_jsonb(version)';
    default:
      return `(data #> ${add(field.split('.').map(toJsonbString))}::text[])`;
  }
}

/** What `field` is ordered by, and what an index of it holds. */
export const keyOf = (value: string, descending: boolean): string =>
  `(record_key(${value}, ${descending}) collate "C")`;

function matchField(where: Where, field: string, expected: Json): string {
  const { add } = where;
  // The plain column, which the key's index knows.
  if (field === 'id' && typeof expected === 'string') return `id = ${add(toJsonbString(expected))}`;
  return hasOperator(expected) ? matchOperators(where, field, expected) : matchOperator(where, field, '$eq', expected);
}

function matchOperators(where: Where, field: string, operators: JsonObject): string {
  const each = Object.entries(operators).map(([operator, operand]) => matchOperator(where, field, operator, operand));
  return `(${each.join(' and ')})`;
}

function matchOperator(where: Where, field: string, operator: string, operand: Json): string {
  if (operator === '$not') return `not ${matchOperators(where, field, filterIn(`${field}.$not`, operand))}`;
  const { add, indexed } = where;
  const found = column(add, field);
  const descending = indexed.get(field);
  const byKey =
    descending === undefined ? null : matchKey(add, keyOf(found, descending), descending, operator, operand);
  if (byKey !== null) return byKey;
  const value = `coalesce(${found}, 'null'::jsonb)`;
  switch (operator) {
    case '$eq':
      return `${value} = ${addJson(add, operand)}`;
    case '$ne':
      return `${value} <> ${addJson(add, operand)}`;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return compare(add, field, value, operator, operand);
    case '$in':
      return `${value} = any(${add(itemsOf(field, operator, operand).map(jsonbText))}::jsonb[])`;
    case '$nin':
      return `not ${value} = any(${add(itemsOf(field, operator, operand).map(jsonbText))}::jsonb[])`;
    case '$contains':
      return contains(add, value, operand);
    case '$like':
      return like(add, field, value, operand);
    case '$exists':
      return `${operand === true ? '' : 'not '}(${found} is not null)`;
    default:
      throw new Error(`filter "${field}": unknown operator "${operator}"; use one of ${FIELD_OPERATORS.join(', ')}`);
  }
}

function itemsOf(field: string, operator: string, operand: Json): Json[] {
  if (Array.isArray(operand)) return operand;
  throw new Error(`filter "${field}": ${operator} needs a list`);
}

/** Whether its key says all of it: others with the same key are the same. */
const isWholeInKey = (value: Json): boolean =>
  typeof value === 'string'
    ? Array.from(toJsonbString(value)).length < KEY_LENGTH
    : !(value !== null && typeof value === 'object');

/** The condition over the key that the index of the field holds; null where the key does not decide it. */
function matchKey(add: Add, key: string, descending: boolean, operator: string, operand: Json): string | null {
  const asKey = (value: Json): string => `record_key(${addJson(add, value)}, ${descending})`;
  if (operator === '$in')
    return Array.isArray(operand) && operand.length > 0 && operand.every(isWholeInKey)
      ? `${key} in (${operand.map(asKey).join(', ')})`
      : null;
  if (!isWholeInKey(operand)) return null;
  if (operator === '$eq') return `${key} = ${asKey(operand)}`;
  if (!isComparison(operator) || (typeof operand !== 'number' && typeof operand !== 'string')) return null;
  const range = RANGES[descending ? 'desc' : 'asc'][typeof operand === 'number' ? 'number' : 'string'];
  const way = descending ? OPPOSITE[operator] : operator;
  const bound = way === '$gt' || way === '$gte' ? `${key} < '${range[1]}'` : `${key} >= '${range[0]}'`;
  return `(${key} ${COMPARISONS[way]} ${asKey(operand)} and ${bound})`;
}

const isComparison = (operator: string): operator is Comparison => Object.hasOwn(COMPARISONS, operator);

/** Only values of the operand's own type compare: a text is neither above nor below a number. Texts compare by their bytes. */
function compare(add: Add, field: string, value: string, operator: Comparison, operand: Json): string {
  if (typeof operand === 'number')
    return `(jsonb_typeof(${value}) = 'number' and ${value} ${COMPARISONS[operator]} ${addJson(add, operand)})`;
  if (typeof operand === 'string')
    return `(jsonb_typeof(${value}) = 'string' and ${value} #>> '{}' ${COMPARISONS[operator]} ${add(toJsonbString(operand))}::text collate "C")`;
  throw new Error(`filter "${field}": ${operator} compares with a number or a text`);
}

function like(add: Add, field: string, value: string, operand: Json): string {
  if (typeof operand !== 'string') throw new Error(`filter "${field}": $like needs a text`);
  return `(jsonb_typeof(${value}) = 'string' and ${value} #>> '{}' like ${add(toJsonbString(operand))}::text)`;
}

/** A text contains a text; an array contains an item; an object contains a part of itself. */
function contains(add: Add, value: string, operand: Json): string {
  const item = addJson(add, operand);
  const text =
    typeof operand === 'string' ? `strpos(${value} #>> '{}', ${add(toJsonbString(operand))}::text) > 0` : 'false';
  return `case jsonb_typeof(${value})
    when 'string' then ${text}
    when 'array' then ${value} @> jsonb_build_array(${item})
    when 'object' then jsonb_typeof(${item}) = 'object' and ${value} @> ${item}
    else false end`;
}

export function jsonbText(value: Json): string {
  return toJsonbText(JSON.stringify(value));
}

function addJson(add: Add, value: Json): string {
  return `${add(jsonbText(value))}::jsonb`;
}
