/**
 * Evaluates an expression tree over a scope: synchronous, total and bounded. What can go wrong comes
 * back as a fault; a name that nobody set is `undefined`, and so is anything read from it. Where an
 * operator or a call makes something else of that (an empty text, no number), the name is told beside the value.
 */
import type { Json } from '../json.ts';
import { bracesLengthMax } from '../limits.ts';
import { isSafeName, property, textOf, type Fault, type ScopeReader } from './scope.ts';
import { Budget, Halt } from './budget.ts';
import type {
  Argument,
  Arrow,
  BinaryOperator,
  Entry,
  Expression,
  FunctionName,
  Item,
  Method,
  Node,
} from './expression.ts';
import { callFunction } from './functions.ts';
import { keysOfPath } from './braces.ts';
import { readable } from './json-text.ts';
import { ofShellResult } from './shell-result.ts';
import { callMethod, isOnText, joined, jsonOf, type MethodArgument } from './methods.ts';
import { applyBinary, applyUnary, isTruthy, type Value } from './operators.ts';
import { parseExpression } from './parse.ts';

export { isTruthy } from './operators.ts';

/** `lost`: names without a value of which an operator or a call made something else, so that the value does not show it. */
export type Evaluation = { ok: true; value: Json | undefined; lost?: readonly string[] } | ({ ok: false } & Fault);

export function tryEvaluate(
  expression: Expression | string,
  scope: ScopeReader,
  budget: Budget = new Budget(),
): Evaluation {
  const parsed = typeof expression === 'string' ? parseExpression(expression) : { ok: true as const, expression };
  if (!parsed.ok) return { ok: false, ...parsed.problem };
  try {
    const world: World = { scope, budget, locals: undefined, isBraced: false, lost: new Set() };
    const value = jsonOf(visit(parsed.expression.root, world));
    return { ok: true, value, ...lostIn(world) };
  } catch (error) {
    if (error instanceof Halt) return { ok: false, ...error.fault };
    // Data nested deeper than the stack: nothing else in here can overflow.
    if (error instanceof RangeError)
      return { ok: false, code: 'VALUE_TOO_LARGE', message: 'a value is nested too deeply to be read' };
    throw error;
  }
}

/** For places where a fault means the same as no value. */
export function evaluate(expression: Expression | string, scope: ScopeReader, budget?: Budget): Json | undefined {
  const result = tryEvaluate(expression, scope, budget);
  return result.ok ? result.value : undefined;
}

/** Parameters of the functions that are being called, innermost first. */
interface Locals {
  readonly name: string;
  readonly value: Value;
  readonly outer: Locals | undefined;
}

interface World {
  readonly scope: ScopeReader;
  readonly budget: Budget;
  readonly locals: Locals | undefined;
  readonly isBraced: boolean;
  readonly lost: Set<string>;
}

const lostIn = ({ lost }: World): { lost?: readonly string[] } => (lost.size === 0 ? {} : { lost: [...lost] });

/** The value of what cannot do without one: the name that has none is told. */
function needed(node: Node, world: World): Value {
  const value = visit(node, world);
  const name = value === undefined ? missingName(node, world) : undefined;
  if (name !== undefined) world.lost.add(name);
  return value;
}

function visit(node: Node, world: World): Value {
  world.budget.spend();
  switch (node.type) {
    case 'literal':
      return node.value;
    case 'variable':
      return readVariable(node.name, node.written, world);
    case 'member':
      return orOfStep(visit(node.object, world), node.object, node.name, world);
    case 'index':
      return visitIndex(node.object, node.index, world);
    case 'path':
      return visitPath(node.pieces, node.otherwise, world);
    case 'braces':
      return visit(node.body, { ...world, isBraced: true });
    case 'method':
      return visitMethod(node.object, node.name, node.args, world);
    case 'function':
      return callFunction(
        node.name,
        node.args.map((arg) => (ASKING.has(node.name) ? visit : needed)(arg, world)),
        world.budget,
      );
    case 'unary':
      return applyUnary(node.operator, (node.operator === '!' ? visit : needed)(node.operand, world));
    case 'binary':
      return visitBinary(node.operator, node.left, node.right, world);
    case 'choice':
      return visit(isTruthy(visit(node.test, world)) ? node.then : node.else, world);
    case 'array':
      return visitArray(node.items, world);
    case 'object':
      return visitObject(node.entries, world);
    case 'template':
      return visitTemplate(node.texts, node.parts, world);
    default:
      return node satisfies never;
  }
}

/** Functions that ask whether there is a value, or give none where there is none. */
const ASKING: ReadonlySet<FunctionName> = new Set(['Boolean', 'Array.isArray', 'Number.isInteger', 'JSON.stringify']);

/** Comparisons with which a definition asks whether there is a value. */
const EQUALITIES: ReadonlySet<BinaryOperator> = new Set(['===', '!==', '==', '!=']);

/** The name for which the node has no value; a field that an item of a list lacks is no name. */
function missingName(node: Node, world: World): string | undefined {
  switch (node.type) {
    case 'variable':
    case 'member':
    case 'index':
    case 'path':
      return namePath(node, world);
    case 'braces':
      return missingName(node.body, world);
    case 'method':
      return visit(node.object, world) === undefined ? missingName(node.object, world) : undefined;
    case 'function':
      return node.args.map((arg) => missingName(arg, world)).find((name) => name !== undefined);
    case 'choice':
      return missingName(isTruthy(visit(node.test, world)) ? node.then : node.else, world);
    case 'binary':
      return missingName(
        node.operator === '&&' && visit(node.left, world) === undefined ? node.left : node.right,
        world,
      );
    case 'literal':
    case 'unary':
    case 'array':
    case 'object':
    case 'template':
      return undefined;
    default:
      return node satisfies never;
  }
}

/** A name with its path, as far as it is written out; undefined where it begins with what a call gave, or with an item. */
function namePath(node: Node, world: World): string | undefined {
  if (node.type === 'variable') return localOf(node.written, world) === undefined ? node.name : undefined;
  if (node.type === 'braces') return namePath(node.body, world);
  if (node.type === 'member') {
    const object = namePath(node.object, world);
    return object === undefined ? missingName(node.object, world) : `${object}.${node.name}`;
  }
  if (node.type === 'path') {
    const [root = ''] = node.pieces;
    const [name = '', ...keys] = typeof root === 'string' && node.pieces.length === 1 ? (keysOfPath(root) ?? []) : [];
    return name === '' || localOf(name, world) !== undefined ? undefined : [name, ...keys].join('.');
  }
  return node.type === 'index' ? indexPath(node.object, node.index, world) : undefined;
}

function indexPath(object: Node, index: Node, world: World): string | undefined {
  const name = namePath(object, world);
  if (name !== undefined && index.type === 'literal') return `${name}.${textOf(index.value)}`;
  if (visit(object, world) === undefined) return missingName(object, world);
  return missingName(index, world) ?? name;
}

function readVariable(name: string, written: string, world: World): Value {
  const local = localOf(written, world);
  return local === undefined ? world.scope.get(name) : local.value;
}

function localOf(written: string, world: World): Locals | undefined {
  let local = world.locals;
  while (local !== undefined && local.name !== written) local = local.outer;
  return local;
}

/** A value's own field; where a variable has none, that of the step with this label. */
function orOfStep(from: Value, object: Node, key: string, world: World): Value {
  const own = fieldOf(from, key, world);
  if (own !== undefined) return own;
  const isLabel = object.type === 'variable' && localOf(object.written, world) === undefined;
  const kept = isLabel ? world.scope.stepField?.(object.name, key) : undefined;
  return kept === undefined ? ofShellResult(from, key, world.budget) : kept;
}

function visitPath(pieces: readonly (string | Node)[], otherwise: Node | undefined, world: World): Value {
  const inBraces: World = { ...world, isBraced: true };
  const texts = pieces.map((piece) => (typeof piece === 'string' ? piece : world.budget.text(needed(piece, inBraces))));
  const [root, ...keys] = keysOfPath(joined(texts, '', world.budget).slice(0, bracesLengthMax + 1)) ?? [];
  if (root !== undefined) {
    const variable = readVariable(root, root, world);
    const value = follow(variable, keys, inBraces);
    if (value !== undefined || keys.length === 0) return value;
    const ofStep = follow(world.scope.result?.(root), keys, inBraces);
    const found = ofStep === undefined ? followShell(variable, keys, inBraces) : ofStep;
    if (found !== undefined) return found;
  }
  return otherwise === undefined ? undefined : visit(otherwise, inBraces);
}

function follow(from: Value, keys: readonly string[], world: World): Value {
  let value = from;
  for (const key of keys) {
    if (value === undefined) return undefined;
    world.budget.spend();
    const own = fieldOf(value, key, world);
    value = own === undefined && value !== from ? ofShellResult(value, key, world.budget) : own;
  }
  return value;
}

/** The path goes through a field that the value has for being the result of a shell. */
function followShell(from: Value, [key, ...rest]: readonly string[], world: World): Value {
  return key === undefined ? undefined : follow(ofShellResult(from, key, world.budget), rest, world);
}

function fieldOf(value: Value, key: string | number, world: World): Value {
  return property(readable(value, key, world.isBraced, world.budget), key);
}

function visitIndex(object: Node, index: Node, world: World): Value {
  const from = visit(object, world);
  const key = visit(index, world);
  // Which fields are kept is known from what is written, so a key that is computed finds none of them.
  return index.type === 'literal' && typeof index.value === 'string'
    ? orOfStep(from, object, index.value, world)
    : readIndex(from, key, world);
}

function readIndex(object: Value, index: Value, world: World): Value {
  return typeof index === 'number' || typeof index === 'string' ? fieldOf(object, index, world) : undefined;
}

function visitBinary(operator: BinaryOperator, left: Node, right: Node, world: World): Value {
  const asks = EQUALITIES.has(operator) || operator === '&&' || operator === '||' || operator === '??';
  const value = (asks ? visit : needed)(left, world);
  if (operator === '&&') return isTruthy(value) ? visit(right, world) : value;
  if (operator === '||') return isTruthy(value) ? value : visit(right, world);
  if (operator === '??') return value ?? visit(right, world);
  return applyBinary(operator, value, (asks ? visit : needed)(right, world), world.budget);
}

/** A method of nothing is nothing, as a field of nothing is: an unset name makes a condition false. */
function visitMethod(object: Node, name: Method, args: readonly Argument[], world: World): Value {
  const found = visit(object, world);
  const target = isOnText(name) ? found : readable(found, name, world.isBraced, world.budget);
  if (target === undefined || target === null) return undefined;
  return callMethod(
    target,
    name,
    args.map((arg) => argumentOf(arg, world)),
    world.budget,
  );
}

function argumentOf(arg: Argument, world: World): MethodArgument {
  if (arg.type !== 'arrow') return { value: needed(arg, world) };
  return { callback: (...values) => visit(arg.body, withParameters(arg, values, world)) };
}

function withParameters(arrow: Arrow, values: readonly Value[], world: World): World {
  const locals = arrow.params.reduce<Locals | undefined>(
    (outer, name, position) => ({ name, value: values[position], outer }),
    world.locals,
  );
  return { ...world, locals };
}

function visitArray(items: readonly Item[], world: World): Json[] {
  const out: Json[] = [];
  for (const item of items) {
    const value = jsonOf(needed(item.value, world)) ?? null;
    if (!item.spread) out.push(value);
    else if (Array.isArray(value)) {
      world.budget.spend(value.length);
      for (const element of value) out.push(element);
    } else if (value !== null) throw new Halt('EXPRESSION_TYPE', '"..." inside [ ] needs an array');
  }
  return out;
}

function visitObject(entries: readonly Entry[], world: World): Json {
  const out = new Map<string, Json>();
  for (const entry of entries) {
    const value = jsonOf(needed(entry.value, world));
    if (entry.type === 'entry') {
      const key = world.budget.text(needed(entry.key, world));
      if (!isSafeName(key)) throw new Halt('EXPRESSION_TYPE', `an object cannot have the key "${key}"`);
      if (value !== undefined) out.set(key, value);
    } else spreadInto(out, value, world.budget);
  }
  return Object.fromEntries(out);
}

function spreadInto(out: Map<string, Json>, value: Value, budget: Budget): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'object' || Array.isArray(value))
    throw new Halt('EXPRESSION_TYPE', '"..." inside { } needs an object');
  const entries = Object.entries(value);
  budget.spend(entries.length);
  for (const [key, item] of entries) if (isSafeName(key)) out.set(key, item);
}

function visitTemplate(texts: readonly string[], parts: readonly Node[], world: World): string {
  const pieces = texts.flatMap((text, index) => {
    const part = parts[index];
    return part === undefined ? [text] : [text, world.budget.text(needed(part, world))];
  });
  return joined(pieces, '', world.budget);
}
