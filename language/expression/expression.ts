/**
 * The tree of an expression: a closed union, immutable, holding nothing but data. What is not a
 * member here cannot be evaluated; `convert.ts` is the only maker.
 */
import type { Json } from '../json.ts';

export interface Expression {
  readonly text: string;
  readonly root: Node;
}

export type Node =
  | { readonly type: 'literal'; readonly value: Json | undefined }
  | { readonly type: 'variable'; readonly name: string; readonly written: string }
  /** A path between braces. The pieces make its text; `otherwise` is tried when nothing is there. */
  | { readonly type: 'path'; readonly pieces: readonly (string | Node)[]; readonly otherwise: Node | undefined }
  /** An expression between braces: a text that is JSON is read on the way down a path. */
  | { readonly type: 'braces'; readonly body: Node }
  | { readonly type: 'member'; readonly object: Node; readonly name: string }
  | { readonly type: 'index'; readonly object: Node; readonly index: Node }
  | { readonly type: 'method'; readonly object: Node; readonly name: Method; readonly args: readonly Argument[] }
  | { readonly type: 'function'; readonly name: FunctionName; readonly args: readonly Node[] }
  | { readonly type: 'unary'; readonly operator: UnaryOperator; readonly operand: Node }
  | { readonly type: 'binary'; readonly operator: BinaryOperator; readonly left: Node; readonly right: Node }
  | { readonly type: 'choice'; readonly test: Node; readonly then: Node; readonly else: Node }
  | { readonly type: 'array'; readonly items: readonly Item[] }
  | { readonly type: 'object'; readonly entries: readonly Entry[] }
  | { readonly type: 'template'; readonly texts: readonly string[]; readonly parts: readonly Node[] };

/** A function exists only as the argument of a method: it is never a value. */
export interface Arrow {
  readonly type: 'arrow';
  readonly params: readonly string[];
  readonly body: Node;
}

export type Argument = Node | Arrow;
export type Item = { readonly spread: boolean; readonly value: Node };
export type Entry =
  | { readonly type: 'entry'; readonly key: Node; readonly value: Node }
  | { readonly type: 'spread'; readonly value: Node };

export const UNARY_OPERATORS = ['!', '-', '+'] as const;
export type UnaryOperator = (typeof UNARY_OPERATORS)[number];

export const BINARY_OPERATORS = [
  '===',
  '!==',
  '==',
  '!=',
  '>',
  '<',
  '>=',
  '<=',
  '&&',
  '||',
  '??',
  '+',
  '-',
  '*',
  '/',
  '%',
] as const;
export type BinaryOperator = (typeof BINARY_OPERATORS)[number];

export const METHODS = [
  'includes',
  'startsWith',
  'endsWith',
  'indexOf',
  'some',
  'every',
  'filter',
  'map',
  'find',
  'findIndex',
  'replace',
  'replaceAll',
  'split',
  'join',
  'trim',
  'slice',
  'toLowerCase',
  'toUpperCase',
  'concat',
  'at',
  'toFixed',
  'lastIndexOf',
  'trimStart',
  'trimEnd',
  'reduce',
  'flat',
  'flatMap',
  'reverse',
  'sort',
] as const;
export type Method = (typeof METHODS)[number];

/** Functions by the name they are called with. */
export const FUNCTIONS = [
  'Number',
  'String',
  'Boolean',
  'parseInt',
  'parseFloat',
  'Number.isInteger',
  'Object.keys',
  'Object.values',
  'Object.entries',
  'Array.isArray',
  'JSON.stringify',
  'JSON.parse',
  'Math.abs',
  'Math.ceil',
  'Math.floor',
  'Math.round',
  'Math.trunc',
  'Math.sign',
  'Math.min',
  'Math.max',
  'Math.sqrt',
  'Math.cbrt',
  'Math.hypot',
  'Math.pow',
  'Math.exp',
  'Math.expm1',
  'Math.log',
  'Math.log1p',
  'Math.log2',
  'Math.log10',
  'Math.sin',
  'Math.cos',
  'Math.tan',
  'Math.asin',
  'Math.acos',
  'Math.atan',
  'Math.atan2',
  'Math.sinh',
  'Math.cosh',
  'Math.tanh',
  'Math.asinh',
  'Math.acosh',
  'Math.atanh',
  'Math.fround',
  'Math.imul',
  'Math.clz32',
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** Numbers by the name they are written with. */
export const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ['Math.PI', Math.PI],
  ['Math.E', Math.E],
  ['Math.LN2', Math.LN2],
  ['Math.LN10', Math.LN10],
  ['Math.LOG2E', Math.LOG2E],
  ['Math.LOG10E', Math.LOG10E],
  ['Math.SQRT2', Math.SQRT2],
  ['Math.SQRT1_2', Math.SQRT1_2],
]);

function memberOf<T extends string>(list: readonly T[]): (name: string) => name is T {
  const set: ReadonlySet<string> = new Set(list);
  return (name): name is T => set.has(name);
}

export const isUnaryOperator = memberOf(UNARY_OPERATORS);
export const isBinaryOperator = memberOf(BINARY_OPERATORS);
export const isMethod = memberOf(METHODS);
export const isFunctionName = memberOf(FUNCTIONS);

/** A call of what is not there: `Math.rond` and `len` as a function, `contains` as a method of a value. */
export interface UnknownCall {
  kind: 'function' | 'method';
  name: string;
}
