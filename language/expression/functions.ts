/**
 * The functions an expression may call by name. Only those whose results are the same on every
 * machine: no clock, no randomness, and none of the functions whose last digit is left to the engine.
 */
import type { Json } from '../json.ts';
import { isSafeName } from '../scope.ts';
import { Halt, type Budget } from './budget.ts';
import type { FunctionName } from './expression.ts';
import { joined } from './methods.ts';
import { isTruthy, numberOf, type Value } from './operators.ts';

type Call = (args: readonly Value[], budget: Budget) => Value;

const CALLS: Readonly<Record<FunctionName, Call>> = {
  Number: (args) => (args.length === 0 ? 0 : numberOf(args[0])),
  String: ([value], budget) => joined([budget.text(value)], '', budget),
  Boolean: ([value]) => isTruthy(value),
  'Array.isArray': ([value]) => Array.isArray(value),
  'JSON.stringify': ([value], budget) => (value === undefined ? undefined : joined([JSON.stringify(value)], '', budget)),
  'Object.keys': ([value], budget) => entriesOf(value, budget).map(([key]) => key),
  'Object.values': ([value], budget) => entriesOf(value, budget).map(([, item]) => item),
  'Object.entries': ([value], budget) => entriesOf(value, budget),
  'Math.abs': ([value]) => Math.abs(numberOf(value)),
  'Math.ceil': ([value]) => Math.ceil(numberOf(value)),
  'Math.floor': ([value]) => Math.floor(numberOf(value)),
  'Math.round': ([value]) => Math.round(numberOf(value)),
  'Math.trunc': ([value]) => Math.trunc(numberOf(value)),
  'Math.sign': ([value]) => Math.sign(numberOf(value)),
  'Math.min': (args) => Math.min(...args.map(numberOf)),
  'Math.max': (args) => Math.max(...args.map(numberOf)),
  'Math.sqrt': ([value]) => Math.sqrt(numberOf(value)),
};

export function callFunction(name: FunctionName, args: readonly Value[], budget: Budget): Value {
  return CALLS[name](args, budget);
}

function entriesOf(value: Value, budget: Budget): Array<[string, Json]> {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object') throw new Halt('EXPRESSION_TYPE', 'Object.keys, .values and .entries need an object or an array');
  const entries = Object.entries(value).filter(([key]) => isSafeName(key));
  budget.spend(entries.length);
  return entries;
}
