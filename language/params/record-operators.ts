/** The operators of filters of records. */
import { isJsonObject, type JsonObject } from '../json.ts';

/** Below a field. */
export const FIELD_OPERATORS = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$like',
  '$contains',
  '$exists',
  '$not',
] as const;
export type FieldOperator = (typeof FIELD_OPERATORS)[number];

/** Where a field stands: of filters, and of one filter. */
export const FILTER_OPERATORS = ['$and', '$or', '$not'] as const;

export const hasOperator = (value: unknown): value is JsonObject =>
  isJsonObject(value) && Object.keys(value).some((name) => name.startsWith('$'));
