/** Whether a filter fits a record, decided here and not by the store: for simulations, which have none. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { hasOperator } from '../../language/params/record-operators.ts';

/** Of a filter that `RecordFilter` has read. */
export function matches(record: JsonObject, filter: JsonObject): boolean {
  return Object.entries(filter).every(([name, expected]) => {
    if (name === '$and') return filtersIn(expected).every((one) => matches(record, one));
    if (name === '$or') return filtersIn(expected).some((one) => matches(record, one));
    if (name === '$not') return !matches(record, filterIn(expected));
    const found = fieldOf(record, name);
    return hasOperator(expected) ? fits(found, expected) : isSame(found, expected);
  });
}

const filterIn = (given: Json): JsonObject => (isJsonObject(given) ? given : {});
const filtersIn = (given: Json): JsonObject[] => (Array.isArray(given) ? given.filter(isJsonObject) : []);

/** Undefined where nothing is. The items of a list are counted from 0, and from its end by -1. */
function fieldOf(record: JsonObject, field: string): Json | undefined {
  let at: Json | undefined = record;
  for (const key of field.split('.')) {
    if (Array.isArray(at)) at = /^-?\d+$/.test(key) ? at.at(Number(key)) : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

const fits = (found: Json | undefined, operators: JsonObject): boolean =>
  Object.entries(operators).every(([operator, operand]) => fitsOne(found, operator, operand));

function fitsOne(found: Json | undefined, operator: string, operand: Json): boolean {
  switch (operator) {
    case '$eq':
      return isSame(found, operand);
    case '$ne':
      return !isSame(found, operand);
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return compares(found, operator, operand);
    case '$in':
      return itemsIn(operand).some((one) => isSame(found, one));
    case '$nin':
      return !itemsIn(operand).some((one) => isSame(found, one));
    case '$like':
      return typeof found === 'string' && typeof operand === 'string' && isLike(found, operand);
    case '$contains':
      return contains(found, operand);
    case '$exists':
      return (found !== undefined) === operand;
    case '$not':
      return !fits(found, filterIn(operand));
    default:
      throw new Error(`bug: an operator "${operator}" was read`);
  }
}

const itemsIn = (operand: Json): Json[] => (Array.isArray(operand) ? operand : []);

const isSame = (found: Json | undefined, expected: Json): boolean => isDeepStrictEqual(found ?? null, expected);

function compares(found: Json | undefined, operator: '$gt' | '$gte' | '$lt' | '$lte', operand: Json): boolean {
  const order = orderOf(found, operand);
  if (order === null) return false;
  if (order === 0) return operator === '$gte' || operator === '$lte';
  return operator.startsWith('$g') === order > 0;
}

/** Null where they do not compare. */
function orderOf(found: Json | undefined, operand: Json): number | null {
  if (typeof found === 'number' && typeof operand === 'number') return found - operand;
  if (typeof found === 'string' && typeof operand === 'string')
    return Buffer.compare(Buffer.from(found), Buffer.from(operand));
  return null;
}

const ANY_TEXT = Symbol('%');
const ANY_CHARACTER = Symbol('_');

/** Goes back to the last % alone, so that it takes no longer than the pattern times the text. */
function isLike(text: string, pattern: string): boolean {
  const parts = [...pattern.matchAll(/\\([^])|([^])/gu)].map(([, escaped, plain]) =>
    plain === '%' ? ANY_TEXT : plain === '_' ? ANY_CHARACTER : (escaped ?? plain),
  );
  const characters = Array.from(text);
  let at = 0;
  let back = { part: -1, at: 0 };
  for (let part = 0; at < characters.length || part < parts.length;) {
    if (parts[part] === ANY_TEXT) {
      part += 1;
      back = { part, at };
    } else if (at < characters.length && (parts[part] === ANY_CHARACTER || parts[part] === characters[at])) {
      part += 1;
      at += 1;
    } else if (back.part !== -1 && back.at < characters.length) {
      back.at += 1;
      ({ part, at } = back);
    } else return false;
  }
  return true;
}

/** A text contains a text; a list contains an item; an object contains a part of itself. */
function contains(found: Json | undefined, operand: Json): boolean {
  if (typeof found === 'string') return typeof operand === 'string' && found.includes(operand);
  if (Array.isArray(found)) return found.some((item) => holds(item, operand));
  return isJsonObject(found) && isJsonObject(operand) && holds(found, operand);
}

/** As jsonb's @>: a part of an object, some items of a list in any order. */
function holds(whole: Json | undefined, part: Json): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && part.every((one) => whole.some((item) => holds(item, one)));
  if (isJsonObject(part))
    return (
      isJsonObject(whole) &&
      Object.entries(part).every(([key, one]) => Object.hasOwn(whole, key) && holds(whole[key], one))
    );
  return isDeepStrictEqual(whole, part);
}
