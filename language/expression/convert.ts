/**
 * From the parser's tree to ours, by an allow-list: a node, operator, method or function that is not
 * named in `expression.ts` ends the conversion with a `Refusal` that says what to write instead.
 */
import type { Expression as Parsed } from 'jsep';
import { changeOf } from '../numbers/decimal.ts';
import { isSafeName, type FaultCode } from './scope.ts';
import {
  CONSTANTS,
  FUNCTIONS,
  METHODS,
  isBinaryOperator,
  isFunctionName,
  isMethod,
  isUnaryOperator,
  type Argument,
  type Entry,
  type Item,
  type Node,
  type UnknownCall,
} from './expression.ts';

/** Thrown inside the parser only; `parseExpression` turns it into a problem. */
export class Refusal extends Error {
  readonly unknown: UnknownCall | undefined;
  readonly code: FaultCode;

  constructor(message: string, unknown?: UnknownCall, code: FaultCode = 'EXPRESSION_INVALID') {
    super(message);
    this.unknown = unknown;
    this.code = code;
  }
}

/** What JavaScript calls functions on: a call behind one of these is no method of a variable. */
export const LIBRARIES: ReadonlySet<string> = new Set([
  'Math',
  'Number',
  'String',
  'Boolean',
  'Object',
  'Array',
  'JSON',
  'Date',
]);

/** What the placeholders of the scan stand for. */
export type Braces = ReadonlyMap<string, Node>;

/** The parser types its fields loosely; this reads one as the node it is known to be. */
function child(node: Parsed, key: string): Parsed {
  return node[key] as Parsed;
}

function children(node: Parsed, key: string): Parsed[] {
  return (node[key] ?? []) as Parsed[];
}

function word(node: Parsed, key: string): string {
  const value = node[key];
  return typeof value === 'string' ? value : '';
}

export function convert(node: Parsed, braces: Braces): Node {
  const go = (key: string): Node => convert(child(node, key), braces);
  switch (node.type) {
    case 'Literal':
      return convertLiteral(node);
    case 'Identifier':
      return convertIdentifier(word(node, 'name'), braces);
    case 'MemberExpression':
      return convertMember(node, braces);
    case 'CallExpression':
      return convertCall(node, braces);
    case 'UnaryExpression':
      return { type: 'unary', operator: allowed(word(node, 'operator'), isUnaryOperator), operand: go('argument') };
    case 'BinaryExpression':
      return {
        type: 'binary',
        operator: allowed(word(node, 'operator'), isBinaryOperator),
        left: go('left'),
        right: go('right'),
      };
    case 'ConditionalExpression':
      return { type: 'choice', test: go('test'), then: go('consequent'), else: go('alternate') };
    case 'ArrayExpression':
      return { type: 'array', items: children(node, 'elements').map((item) => convertItem(item, braces)) };
    case 'ObjectExpression':
      return { type: 'object', entries: children(node, 'properties').map((entry) => convertEntry(entry, braces)) };
    case 'TemplateLiteral':
      return convertTemplate(node, braces);
    case 'ArrowFunctionExpression':
      throw new Refusal('a function (=>) stands only inside the parentheses of a method such as .filter(x => …)');
    case 'Compound':
    case 'SequenceExpression':
      throw new Refusal(
        children(node, 'body').length === 0 && node.type === 'Compound'
          ? 'the expression is empty'
          : 'there are several expressions; write one, and join conditions with && or ||',
      );
    default:
      throw new Refusal(`${describe(node.type)} is not part of the expression language`);
  }
}

function describe(type: string): string {
  if (type === 'ThisExpression') return '"this"';
  return type === 'SpreadElement' ? '"..." outside an array or object' : `"${type}"`;
}

function allowed<T extends string>(operator: string, isAllowed: (name: string) => name is T): T {
  if (isAllowed(operator)) return operator;
  throw new Refusal(`the operator "${operator}" is not part of the expression language`);
}

function convertLiteral(node: Parsed): Node {
  const value = node['value'];
  const written = word(node, 'raw');
  if (typeof value === 'number' && changeOf(written) === 'lost')
    throw new Refusal(
      `the number ${written} would become ${value}; put it in quotes, as a text it is equal to a value of those digits`,
      undefined,
      'NUMBER_CHANGES',
    );
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return { type: 'literal', value };
  if (typeof value === 'number' && Number.isFinite(value)) return { type: 'literal', value };
  throw new Refusal(`"${word(node, 'raw')}" is not a value that JSON can hold`);
}

function convertIdentifier(written: string, braces: Braces): Node {
  const known = braces.get(written);
  if (known !== undefined) return known;
  if (written === 'undefined') return { type: 'literal', value: undefined };
  const name = written.startsWith('$') ? written.slice(1) : written;
  if (name === '') throw new Refusal('a "$" stands alone; write the name of a variable after it');
  return { type: 'variable', name: safe(name), written };
}

function safe(name: string): string {
  if (isSafeName(name)) return name;
  throw new Refusal(`the name "${name}" cannot be read`);
}

function convertMember(node: Parsed, braces: Braces): Node {
  const property = child(node, 'property');
  const named = node['computed'] === true ? undefined : word(property, 'name');
  const qualified = `${nameOf(child(node, 'object'))}.${named ?? ''}`;
  if (isFunctionName(qualified)) throw new Refusal(`"${qualified}" is a function; call it with ( )`);
  const constant = CONSTANTS.get(qualified);
  if (constant !== undefined) return { type: 'literal', value: constant };
  const object = convert(child(node, 'object'), braces);
  return named === undefined
    ? { type: 'index', object, index: convert(property, braces) }
    : { type: 'member', object, name: safe(named) };
}

function nameOf(node: Parsed): string {
  return node.type === 'Identifier' ? word(node, 'name') : '';
}

function convertCall(node: Parsed, braces: Braces): Node {
  const callee = child(node, 'callee');
  const args = children(node, 'arguments');
  const plain = callee.type === 'Identifier';
  if (callee.type !== 'MemberExpression' && !plain) throw new Refusal('only a named method or function can be called');
  const name = plain ? nameOf(callee) : word(child(callee, 'property'), 'name');
  const qualified = plain ? name : `${nameOf(child(callee, 'object'))}.${name}`;
  if (isFunctionName(qualified))
    return { type: 'function', name: qualified, args: args.map((arg) => convert(arg, braces)) };
  if (plain)
    throw new Refusal(`there is no function "${name}"; there are ${FUNCTIONS.join(', ')}`, { kind: 'function', name });
  if (callee['computed'] === true) throw new Refusal('a method is called by its name, not through [ ]');
  if (!isMethod(name)) {
    const unknown: UnknownCall = LIBRARIES.has(nameOf(child(callee, 'object')))
      ? { kind: 'function', name: qualified }
      : { kind: 'method', name };
    throw new Refusal(`there is no method ".${name}"; there are ${METHODS.map((m) => `.${m}`).join(', ')}`, unknown);
  }
  const object = convert(child(callee, 'object'), braces);
  return { type: 'method', object, name, args: args.map((arg) => convertArgument(arg, braces)) };
}

function convertArgument(node: Parsed, braces: Braces): Argument {
  if (node.type !== 'ArrowFunctionExpression') return convert(node, braces);
  const params = children(node, 'params').map((param) => {
    if (param.type !== 'Identifier') throw new Refusal('the parameters of a function (=>) are plain names');
    return safe(nameOf(param));
  });
  return { type: 'arrow', params, body: convert(child(node, 'body'), braces) };
}

function convertItem(node: Parsed | null, braces: Braces): Item {
  if (node === null) throw new Refusal('an array has an empty place; write null there');
  const spread = node.type === 'SpreadElement';
  return { spread, value: convert(spread ? child(node, 'argument') : node, braces) };
}

function convertEntry(node: Parsed, braces: Braces): Entry {
  if (node.type === 'SpreadElement') return { type: 'spread', value: convert(child(node, 'argument'), braces) };
  if (node.type !== 'Property') throw new Refusal('an object is written { name: value }');
  const key = child(node, 'key');
  const value = convert(child(node, 'value'), braces);
  if (node['computed'] === true) return { type: 'entry', key: convert(key, braces), value };
  const name = key.type === 'Identifier' ? nameOf(key) : key['value'];
  if (typeof name !== 'string' && typeof name !== 'number')
    throw new Refusal('the key of an object is a name or a text');
  return { type: 'entry', key: { type: 'literal', value: safe(String(name)) }, value };
}

function convertTemplate(node: Parsed, braces: Braces): Node {
  const texts = children(node, 'quasis').map((quasi) => (quasi['value'] as { cooked: string }).cooked);
  const parts = children(node, 'expressions').map((part) => convert(part, braces));
  if (texts.length !== parts.length + 1) throw new Refusal('write one expression between ${ and }');
  return { type: 'template', texts, parts };
}
