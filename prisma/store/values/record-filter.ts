/**
 * A record query as SQL. Names of fields and values are always parameters; the text holds nothing
 * but our own words. A missing field and null are the same. `id` and `createdAt` (milliseconds) name
 * the record's own columns; every other field descends into `data`, by its dots.
 */
import { isJsonObject } from '../../../language/json.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { RecordChoice, RecordQuery } from '../contract/contract.ts';
import { toJsonbString, toJsonbText } from '../connection/jsonb-text.ts';

export const COLUMNS = 'collection, id, data, created_at as "createdAt"';

const LIST_DEFAULT = 1_000;
const LIST_MAX = 100_000;

const COMPARISONS = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const;
const OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$contains'];

export function recordQuery(query: RecordQuery): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const add = (value: unknown): string => `$${values.push(value)}`;
  const where = whereOf(add, query);
  const order = (query.orderBy ?? []).map(({ field, direction }) => {
    if (direction !== 'asc' && direction !== 'desc')
      throw new Error(`orderBy "${field}": direction must be asc or desc, not ${JSON.stringify(direction)}`);
    return `${column(add, field)} ${direction} nulls last`;
  });
  const limit = add(Math.min(bound('limit', query.limit ?? LIST_DEFAULT), LIST_MAX));
  const offset = add(bound('offset', query.offset ?? 0));
  const text = `select ${COLUMNS} from records where ${where}
    order by ${[...order, 'position'].join(', ')} limit ${limit} offset ${offset}`;
  return { text, values };
}

/** Puts the fields into each record that fits; those of the same name are replaced. */
export function recordUpdate(chosen: RecordChoice, fields: JsonObject): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const add = (value: unknown): string => `$${values.push(value)}`;
  const data = add(recordData(fields));
  return {
    text: `update records set data = data || ${data}::jsonb where ${whereOf(add, chosen)} returning ${COLUMNS}`,
    values,
  };
}

export function recordDelete(chosen: RecordChoice): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const where = whereOf((value) => `$${values.push(value)}`, chosen);
  return { text: `delete from records where ${where} returning id`, values };
}

function whereOf(add: Add, { collection, filter = {} }: RecordChoice): string {
  const fields = Object.entries(filter).flatMap(([field, expected]) => matchField(add, field, expected));
  return [`collection = ${add(toJsonbString(collection))}`, ...fields].join(' and ');
}

/** The id, when the query asks for one record by it: the common case, and one look at the key. */
export function onlyId({ filter = {}, orderBy = [], limit = 1, offset = 0 }: RecordQuery): string | null {
  const { id, ...others } = filter;
  return typeof id === 'string' && Object.keys(others).length === 0 && orderBy.length === 0 && limit > 0 && offset === 0
    ? id
    : null;
}

function bound(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new Error(`${name} must be a whole number from 0, not ${value}`);
  return value;
}

type Add = (value: unknown) => string;

/** SQL for the field's value as jsonb; SQL null where it is missing. */
function column(add: Add, field: string): string {
  if (field === 'id') return 'to_jsonb(id)';
  if (field === 'createdAt') return `to_jsonb(floor(extract(epoch from created_at) * 1000))`;
  return `(data #> ${add(field.split('.').map(toJsonbString))}::text[])`;
}

function matchField(add: Add, field: string, expected: Json): string[] {
  // The plain column, which the key's index knows.
  if (field === 'id' && typeof expected === 'string') return [`id = ${add(toJsonbString(expected))}`];
  const value = `coalesce(${column(add, field)}, 'null'::jsonb)`;
  if (!isJsonObject(expected) || !Object.keys(expected).some((key) => key.startsWith('$'))) {
    return [`${value} = ${addJson(add, expected)}`];
  }
  return Object.entries(expected).map(([operator, operand]) => matchOperator(add, field, value, operator, operand));
}

function matchOperator(add: Add, field: string, value: string, operator: string, operand: Json): string {
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
      if (!Array.isArray(operand)) throw new Error(`filter "${field}": $in needs an array`);
      return `${value} = any(${add(operand.map(jsonbText))}::jsonb[])`;
    case '$contains':
      return contains(add, value, operand);
    default:
      throw new Error(`filter "${field}": unknown operator "${operator}"; use one of ${OPERATORS.join(', ')}`);
  }
}

/** Only values of the operand's own type compare: a text is neither above nor below a number. */
function compare(add: Add, field: string, value: string, operator: keyof typeof COMPARISONS, operand: Json): string {
  if (typeof operand === 'number') {
    return `(jsonb_typeof(${value}) = 'number' and ${value} ${COMPARISONS[operator]} ${addJson(add, operand)})`;
  }
  if (typeof operand === 'string') {
    return `(jsonb_typeof(${value}) = 'string' and ${value} #>> '{}' ${COMPARISONS[operator]} ${add(toJsonbString(operand))}::text)`;
  }
  throw new Error(`filter "${field}": ${operator} compares with a number or a text`);
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

function jsonbText(value: Json): string {
  return toJsonbText(JSON.stringify(value));
}

function addJson(add: Add, value: Json): string {
  return `${add(jsonbText(value))}::jsonb`;
}

export function recordData(data: JsonObject): string {
  return jsonbText(data);
}
