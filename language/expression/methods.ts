/**
 * The methods an expression may call on text, arrays and numbers. A pattern given to `replace`,
 * `replaceAll` or `split` is literal text and so is the replacement: there are no regular
 * expressions here, so no pattern can hang a run.
 */
import type { Json } from '../json.ts';
import { listOf } from './scope.ts';
import { Halt, type Budget } from './budget.ts';
import type { Method } from './expression.ts';
import { isEqual, isTruthy, numberOf, type Value } from './operators.ts';

/** What a method is given: values, and for a function argument a way to call it. */
export type Callback = (...values: Value[]) => Value;
export type MethodArgument = { value: Value } | { callback: Callback };

const CALLBACK_METHODS: ReadonlySet<Method> = new Set<Method>([
  'some',
  'every',
  'filter',
  'map',
  'find',
  'findIndex',
  'flatMap',
  'reduce',
]);

export function callMethod(target: Json, method: Method, args: readonly MethodArgument[], budget: Budget): Value {
  if (method === 'sort') return sorted(wantArray(target, method), args[0], budget);
  if (CALLBACK_METHODS.has(method)) {
    const items = wantArray(target, method);
    const callback = callbackOf(args[0], method);
    return method === 'reduce'
      ? reduce(items, callback, args[1], budget)
      : callWithFunction(items, method, callback, budget);
  }
  const values = args.map((arg) => {
    if ('callback' in arg) throw new Halt('EXPRESSION_TYPE', `.${method} takes values, not a function`);
    return arg.value;
  });
  const onText = TEXT_METHODS[method];
  if (typeof target === 'string' && onText !== undefined) {
    budget.scan(target.length);
    return onText(target, values, budget);
  }
  const onArray = ARRAY_METHODS[method];
  const items = listOf(target);
  if (items !== undefined && onArray !== undefined) {
    budget.spend(items.length);
    return onArray(items, values, budget);
  }
  if (typeof target === 'number' && method === 'toFixed') return toFixed(target, values[0]);
  throw wrongTarget(method, target);
}

function wrongTarget(method: Method, target: Json): Halt {
  const kind = Array.isArray(target) ? 'an array' : typeof target === 'object' ? 'an object' : `a ${typeof target}`;
  return new Halt('EXPRESSION_TYPE', `.${method} cannot be called on ${kind}`);
}

function wantArray(target: Json, method: Method): Json[] {
  const items = listOf(target);
  if (items !== undefined) return items;
  throw wrongTarget(method, target);
}

function callbackOf(argument: MethodArgument | undefined, method: Method): Callback {
  if (argument !== undefined && 'callback' in argument) return argument.callback;
  throw new Halt('EXPRESSION_TYPE', `.${method} needs a function, such as .${method}(x => x.ok)`);
}

function callWithFunction(items: Json[], method: Method, callback: Callback, budget: Budget): Value {
  const call = (item: Json, index: number): Value => {
    budget.spend();
    return callback(item, index);
  };
  const test = (item: Json, index: number): boolean => isTruthy(call(item, index));
  if (method === 'some') return items.some(test);
  if (method === 'every') return items.every(test);
  if (method === 'filter') return items.filter(test);
  if (method === 'find') return items.find(test);
  if (method === 'findIndex') return items.findIndex(test);
  const results = items.map((item, index) => jsonOf(call(item, index)) ?? null);
  return method === 'flatMap' ? flat(results, budget) : results;
}

/** Without a beginning the first element is it, as in JavaScript; of nothing at all there is no value. */
function reduce(items: Json[], callback: Callback, beginning: MethodArgument | undefined, budget: Budget): Value {
  const given = beginning !== undefined && 'value' in beginning;
  let sum: Value = given ? beginning.value : items[0];
  for (let index = given ? 0 : 1; index < items.length; index += 1) {
    budget.spend();
    sum = jsonOf(callback(sum, items[index], index));
  }
  return sum;
}

/** Numbers by their size, anything else by its text; a function says otherwise, as in JavaScript. */
function sorted(items: Json[], order: MethodArgument | undefined, budget: Budget): Json[] {
  budget.spend(items.length);
  if (order !== undefined) {
    const callback = callbackOf(order, 'sort');
    return items.toSorted((a, b) => {
      budget.spend();
      return numberOf(callback(a, b)) || 0;
    });
  }
  const numbers = items.filter((item) => typeof item === 'number');
  if (numbers.length === items.length) return numbers.toSorted((a, b) => a - b);
  const texts = items.map((item) => ({ item, text: budget.text(item) }));
  const inOrder = texts.toSorted(({ text: a }, { text: b }) => {
    budget.scan(Math.min(a.length, b.length));
    return a < b ? -1 : Number(a > b);
  });
  return inOrder.map(({ item }) => item);
}

function flat(items: Json[], budget: Budget): Json[] {
  return items.flatMap((item) => {
    if (Array.isArray(item)) budget.spend(item.length);
    return item;
  });
}

/** JSON has neither NaN nor infinity nor negative zero; a result that is not a number is no value. */
export function jsonOf(value: Value): Value {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) return undefined;
  return value === 0 ? 0 : value;
}

type OnText = (text: string, args: readonly Value[], budget: Budget) => Value;

const TEXT_METHODS: Partial<Record<Method, OnText>> = {
  includes: (text, [part], budget) => text.includes(budget.text(part)),
  startsWith: (text, [part], budget) => text.startsWith(budget.text(part)),
  endsWith: (text, [part], budget) => text.endsWith(budget.text(part)),
  indexOf: (text, [part], budget) => text.indexOf(budget.text(part)),
  at: (text, [index]) => text.at(integerOf(index, 0)),
  slice: (text, [from, to], budget) => made(text.slice(integerOf(from, 0), endOf(to)), budget),
  lastIndexOf: (text, [part], budget) => text.lastIndexOf(budget.text(part)),
  trimStart: (text, _args, budget) => made(text.trimStart(), budget),
  trimEnd: (text, _args, budget) => made(text.trimEnd(), budget),
  trim: (text, _args, budget) => made(text.trim(), budget),
  toLowerCase: (text, _args, budget) => made(text.toLowerCase(), budget),
  toUpperCase: (text, _args, budget) => made(text.toUpperCase(), budget),
  concat: (text, args, budget) => joined([text, ...args.map((arg) => budget.text(arg))], '', budget),
  replace: (text, [part, by], budget) => replaceFirst(text, budget.text(part), budget.text(by), budget),
  replaceAll: (text, [part, by], budget) => replaceAll(text, budget.text(part), budget.text(by), budget),
  split: (text, [separator], budget) => split(text, separator, budget),
};

export function isOnText(method: Method): boolean {
  return TEXT_METHODS[method] !== undefined;
}

type OnArray = (items: Json[], args: readonly Value[], budget: Budget) => Value;

const ARRAY_METHODS: Partial<Record<Method, OnArray>> = {
  includes: (items, [wanted], budget) => items.some((item) => isEqual(item, wanted, budget)),
  indexOf: (items, [wanted], budget) => items.findIndex((item) => isEqual(item, wanted, budget)),
  lastIndexOf: (items, [wanted], budget) => items.findLastIndex((item) => isEqual(item, wanted, budget)),
  flat: (items, _args, budget) => flat(items, budget),
  reverse: (items) => items.toReversed(),
  at: (items, [index]) => items.at(integerOf(index, 0)),
  slice: (items, [from, to]) => items.slice(integerOf(from, 0), endOf(to)),
  concat: (items, args, budget) => items.concat(...args.map((arg) => concatenated(arg, budget))),
  join: (items, [separator], budget) =>
    joined(
      items.map((item) => budget.text(item)),
      separator === undefined ? ',' : budget.text(separator),
      budget,
    ),
};

function endOf(value: Value): number | undefined {
  return value === undefined ? undefined : integerOf(value, 0);
}

function concatenated(value: Value, budget: Budget): Json[] {
  const items = Array.isArray(value) ? value : [jsonOf(value) ?? null];
  budget.spend(items.length);
  return items;
}

function integerOf(value: Value, otherwise: number): number {
  const number = Math.trunc(numberOf(value));
  return Number.isNaN(number) ? otherwise : number;
}

function made(text: string, budget: Budget): string {
  budget.produce(text.length);
  return text;
}

export function joined(parts: readonly string[], separator: string, budget: Budget): string {
  const length = parts.reduce((sum, part) => sum + part.length, separator.length * Math.max(0, parts.length - 1));
  budget.produce(length);
  return parts.join(separator);
}

function replaceFirst(text: string, pattern: string, replacement: string, budget: Budget): string {
  budget.produce(text.length + replacement.length);
  const at = text.indexOf(pattern);
  return at === -1 ? text : text.slice(0, at) + replacement + text.slice(at + pattern.length);
}

function replaceAll(text: string, pattern: string, replacement: string, budget: Budget): string {
  if (pattern === '') throw new Halt('EXPRESSION_TYPE', '.replaceAll needs a text to look for');
  const parts = partsOf(text, pattern, budget);
  return joined(parts, replacement, budget);
}

function split(text: string, separator: Value, budget: Budget): string[] {
  if (separator === undefined) return [text];
  const by = budget.text(separator);
  const parts = partsOf(text, by, budget);
  budget.produce(text.length);
  return parts;
}

/** Stops where the budget does, not after a million parts have been made. */
function partsOf(text: string, separator: string, budget: Budget): string[] {
  const parts = text.split(separator, budget.stepsLeft + 1);
  budget.spend(parts.length);
  return parts;
}

function toFixed(number: number, digits: Value): string {
  const places = integerOf(digits, 0);
  if (places < 0 || places > 100) throw new Halt('EXPRESSION_TYPE', '.toFixed takes between 0 and 100 places');
  return number.toFixed(places);
}
