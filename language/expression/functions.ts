/**
 * The functions an expression may call by name. Only those whose results are the same on every
 * machine: no clock, no randomness, and none of the functions whose last digit is left to the engine.
 */
import type { Json } from '../json.ts';
import { isSafeName } from './scope.ts';
import { parsedText } from './json-text.ts';
import { Halt, type Budget } from './budget.ts';
import type { FunctionName } from './expression.ts';
import * as math from './math.ts';
import { joined } from './methods.ts';
import { isTruthy, numberOf, type Value } from './operators.ts';

type Call = (args: readonly Value[], budget: Budget) => Value;

const ofNumber =
  (call: (x: number) => number): Call =>
  ([value]) =>
    call(numberOf(value));
const ofNumbers =
  (call: (...numbers: number[]) => number): Call =>
  (args) =>
    call(...args.map(numberOf));

const CALLS: Readonly<Record<FunctionName, Call>> = {
  Number: (args) => (args.length === 0 ? 0 : numberOf(args[0])),
  String: ([value], budget) => joined([budget.text(value)], '', budget),
  Boolean: ([value]) => isTruthy(value),
  parseInt: ([value, radix], budget) => Number.parseInt(start(held(value), budget), numberOf(radix)),
  parseFloat: ([value], budget) => Number.parseFloat(start(value, budget)),
  'Number.isInteger': ([value]) => Number.isInteger(value),
  'Array.isArray': ([value]) => Array.isArray(value),
  'JSON.stringify': ([value], budget) =>
    value === undefined
      ? undefined
      : joined(
          [typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : budget.written(value)],
          '',
          budget,
        ),
  'JSON.parse': ([value], budget) => parsedText(value, budget) ?? notJson(),
  'Object.keys': ([value], budget) => entriesOf(value, budget).map(([key]) => key),
  'Object.values': ([value], budget) => entriesOf(value, budget).map(([, item]) => item),
  'Object.entries': ([value], budget) => entriesOf(value, budget),
  'Math.abs': ofNumber(Math.abs),
  'Math.ceil': ofNumber(Math.ceil),
  'Math.floor': ofNumber(Math.floor),
  'Math.round': ofNumber(Math.round),
  'Math.trunc': ofNumber(Math.trunc),
  'Math.sign': ofNumber(Math.sign),
  'Math.min': ofNumbers(Math.min),
  'Math.max': ofNumbers(Math.max),
  'Math.sqrt': ofNumber(Math.sqrt),
  'Math.cbrt': ofNumber(math.cbrt),
  'Math.exp': ofNumber(math.exp),
  'Math.expm1': ofNumber(math.expm1),
  'Math.log': ofNumber(math.log),
  'Math.log1p': ofNumber(math.log1p),
  'Math.log2': ofNumber(math.log2),
  'Math.log10': ofNumber(math.log10),
  'Math.sin': ofNumber(math.sin),
  'Math.cos': ofNumber(math.cos),
  'Math.tan': ofNumber(math.tan),
  'Math.asin': ofNumber(math.asin),
  'Math.acos': ofNumber(math.acos),
  'Math.atan': ofNumber(math.atan),
  'Math.sinh': ofNumber(math.sinh),
  'Math.cosh': ofNumber(math.cosh),
  'Math.tanh': ofNumber(math.tanh),
  'Math.asinh': ofNumber(math.asinh),
  'Math.acosh': ofNumber(math.acosh),
  'Math.atanh': ofNumber(math.atanh),
  'Math.hypot': ofNumbers(math.hypot),
  'Math.pow': ([x, y]) => math.pow(numberOf(x), numberOf(y)),
  'Math.atan2': ([x, y]) => math.atan2(numberOf(x), numberOf(y)),
  'Math.fround': ofNumber(Math.fround),
  'Math.imul': ([x, y]) => Math.imul(numberOf(x), numberOf(y)),
  'Math.clz32': ofNumber(Math.clz32),
};

export function callFunction(name: FunctionName, args: readonly Value[], budget: Budget): Value {
  return CALLS[name](args, budget);
}

/** `parseFloat` alone makes the nearest number of one that is not held: whoever calls it asks for that. */
function held(value: Value): Value {
  if (typeof value === 'string') numberOf(value);
  return value;
}

/** No number is longer than this. */
function start(value: Value, budget: Budget): string {
  return budget.text(value).trimStart().slice(0, 400);
}

function notJson(): never {
  throw new Halt('EXPRESSION_TYPE', 'JSON.parse found no JSON text');
}

function entriesOf(value: Value, budget: Budget): Array<[string, Json]> {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object')
    throw new Halt('EXPRESSION_TYPE', 'Object.keys, .values and .entries need an object or an array');
  const entries = Object.entries(value).filter(([key]) => isSafeName(key));
  budget.spend(entries.length);
  return entries;
}
