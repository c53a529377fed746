/**
 * Operators over JSON values. They follow JavaScript on primitives. Two differences are on purpose:
 * objects and arrays are equal when their contents are (identity would not survive a run that is
 * carried on elsewhere), and nothing is ever coerced through a method of the value.
 */
import type { Json } from '../json.ts';
import { changeOf, compareDecimals } from '../numbers/decimal.ts';
import { Halt, type Budget } from './budget.ts';
import type { BinaryOperator, UnaryOperator } from './expression.ts';

export type Value = Json | undefined;

/** Operators that always need both sides; `&&`, `||` and `??` are the evaluator's. */
export type EagerOperator = Exclude<BinaryOperator, '&&' | '||' | '??'>;

export function isTruthy(value: Value): boolean {
  return Boolean(value);
}

export function applyUnary(operator: UnaryOperator, value: Value): Value {
  if (operator === '!') return !isTruthy(value);
  const number = arithmetic(value, operator);
  return operator === '-' ? -number : number;
}

export function applyBinary(operator: EagerOperator, left: Value, right: Value, budget: Budget): Value {
  switch (operator) {
    case '===':
      return isEqual(left, right, budget);
    case '!==':
      return !isEqual(left, right, budget);
    case '==':
      return isLooselyEqual(left, right, budget);
    case '!=':
      return !isLooselyEqual(left, right, budget);
    case '+':
      return add(left, right, budget);
    case '-':
      return arithmetic(left, operator) - arithmetic(right, operator);
    case '*':
      return arithmetic(left, operator) * arithmetic(right, operator);
    case '/':
      return arithmetic(left, operator) / arithmetic(right, operator);
    case '%':
      return arithmetic(left, operator) % arithmetic(right, operator);
    case '>':
    case '<':
    case '>=':
    case '<=':
      return compare(operator, left, right, budget);
    default:
      return operator satisfies never;
  }
}

/** Objects and arrays are not numbers; everything else is read as JavaScript reads it, where that is not another number. */
export function numberOf(value: Value): number {
  if (value === null) return 0;
  if (typeof value === 'string' && changeOf(value) === 'lost')
    throw new Halt(
      'NUMBER_CHANGES',
      `${shortened(value)} cannot be calculated with: it would become ${shortened(String(Number(value)))}; compare it as it is, or let a program calculate with it`,
    );
  return typeof value === 'object' ? Number.NaN : Number(value);
}

const shortened = (number: string): string =>
  number.length > shownMax ? `${number.slice(0, shownMax)}…` : number.trim();
const shownMax = 60;

/** A text that is had where a program wrote a number which is not held. */
const isNumberText = (value: Value): boolean => typeof value === 'string' && changeOf(value) !== null;

const isNumeric = (value: Value): boolean => typeof value === 'number' || isNumberText(value);

/** Both by their size, digit by digit, where one of them is such a text; null where that is not the question. */
function exactOrder(left: Value, right: Value): number | null {
  if (!isNumberText(left) && !isNumberText(right)) return null;
  const [a, b] = [left, right].map((side) =>
    typeof side === 'number' || typeof side === 'string' ? String(side) : '',
  );
  return a === undefined || b === undefined ? null : compareDecimals(a, b);
}

function arithmetic(value: Value, operator: string): number {
  if (typeof value === 'object' && value !== null) {
    throw new Halt(
      'EXPRESSION_TYPE',
      `"${operator}" needs numbers and found ${Array.isArray(value) ? 'an array' : 'an object'}; name the field`,
    );
  }
  return numberOf(value);
}

function add(left: Value, right: Value, budget: Budget): Value {
  const areNumbers = isNumeric(left) && isNumeric(right);
  if (areNumbers || (typeof left !== 'string' && typeof right !== 'string'))
    return arithmetic(left, '+') + arithmetic(right, '+');
  const [before, after] = [budget.text(left), budget.text(right)];
  budget.produce(before.length + after.length);
  return before + after;
}

function compare(operator: '>' | '<' | '>=' | '<=', left: Value, right: Value, budget: Budget): boolean {
  const texts = typeof left === 'string' && typeof right === 'string';
  if (texts) budget.scan(Math.min(left.length, right.length));
  const order = exactOrder(left, right);
  const [a, b] = order !== null ? [order, 0] : texts ? [left, right] : [numberOf(left), numberOf(right)];
  switch (operator) {
    case '>':
      return a > b;
    case '<':
      return a < b;
    case '>=':
      return a >= b;
    case '<=':
      return a <= b;
    default:
      return operator satisfies never;
  }
}

/** Equality of content. Iterative, and paid for pair by pair. */
export function isEqual(left: Value, right: Value, budget: Budget): boolean {
  const pairs: Array<[Value, Value]> = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair;
    budget.scan(typeof a === 'string' && typeof b === 'string' ? a.length : 0);
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (!pushParts(pairs, a, b, budget)) return false;
  }
  return true;
}

function pushParts(pairs: Array<[Value, Value]>, a: Json, b: Json, budget: Budget): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    budget.spend(a.length);
    a.forEach((item, index) => pairs.push([item, b[index]]));
    return true;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  budget.spend(keys.length);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return false;
    pairs.push([a[key], b[key]]);
  }
  return true;
}

/** `==`: null and undefined are alike; a number meets a text or a boolean as a number. */
function isLooselyEqual(left: Value, right: Value, budget: Budget): boolean {
  const [a, b] = [left ?? null, right ?? null];
  if (a === null || b === null) return a === b;
  if (typeof a === typeof b || typeof a === 'object' || typeof b === 'object') return isEqual(a, b, budget);
  const order = exactOrder(a, b);
  return order === null ? numberOf(a) === numberOf(b) : order === 0;
}
