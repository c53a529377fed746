/**
 * Text to expression tree. The grammar is JavaScript's, read by `jsep`; what may be evaluated is the
 * allow-list of `expression.ts`. Parsing is a pure function of the text, so results are kept.
 */
import arrow from '@jsep-plugin/arrow';
import object from '@jsep-plugin/object';
import spread from '@jsep-plugin/spread';
import template from '@jsep-plugin/template';
import jsep from 'jsep';
import { expressionsCachedMax } from '../limits.ts';
import type { Fault } from './scope.ts';
import { Refusal, convert } from './convert.ts';
import type { Expression, Node, UnknownCall } from './expression.ts';
import { foreignForm } from './foreign-forms.ts';
import { keysOfPath } from './braces.ts';
import { scanExpression, type Scanned, type ScannedBraces } from './scan.ts';
import { defined } from '../defined.ts';

jsep.plugins.register(arrow, object, spread, template);

export type ParsedExpression =
  | { ok: true; expression: Expression }
  /** `unknown`: the call that the problem is about. */
  | { ok: false; problem: Fault; unknown?: UnknownCall };

const parsed = new Map<string, ParsedExpression>();

export function parseExpression(text: string): ParsedExpression {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const result = parse(text);
  if (parsed.size >= expressionsCachedMax) parsed.clear();
  parsed.set(text, result);
  return result;
}

function parse(text: string): ParsedExpression {
  const scan = scanExpression(text);
  if (!scan.ok) return refused(scan.message);
  try {
    return { ok: true, expression: { text, root: nodeOf(scan.scanned) } };
  } catch (error) {
    const foreign = foreignForm(text);
    if (foreign !== undefined) return refused(foreign);
    return error instanceof Refusal ? refused(error.message, error) : refused(messageOf(error));
  }
}

function nodeOf({ text, braces }: Scanned): Node {
  return convert(jsep(text), new Map(Array.from(braces, ([placeholder, found]) => [placeholder, bracesNode(found)])));
}

function bracesNode(found: ScannedBraces): Node {
  if (found.type === 'expression') return { type: 'braces', body: nodeOf(found.scanned) };
  const pieces = found.pieces.map((piece) => (typeof piece === 'string' ? piece : bracesNode(piece)));
  return {
    type: 'path',
    pieces,
    otherwise: found.otherwise === undefined ? undefined : subtractionOf(found.otherwise),
  };
}

/** A hyphen that is no minus (`named.run-tests.data`) need not make an expression. */
function subtractionOf(scanned: Scanned): Node | undefined {
  try {
    return nodeOf(scanned);
  } catch {
    return undefined;
  }
}

function refused(message: string, { code = 'EXPRESSION_INVALID', unknown }: Partial<Refusal> = {}): ParsedExpression {
  return { ok: false, problem: { code, message }, ...defined({ unknown }) };
}

/** The parser's own messages are short sentences that end with a place; hints are ours. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const hint = /Unexpected "="/.test(message)
    ? '; a comparison is written ===, and a variable is set by a step of type "set"'
    : '';
  return `${message.slice(0, 200)}${hint}`;
}

export interface FoundReference {
  name: string;
  /** The plain path that follows the name, as far as it is written out. */
  path: string[];
  /** Written as a path between braces. */
  braced?: true;
  /** The text in brackets that follows the name of a variable (`$build['data']`); the path ends before it. */
  key?: string;
}

/** The variables an expression reads. */
export function referencesOf(expression: Expression): FoundReference[] {
  const found: FoundReference[] = [];
  collect(expression.root, [], new Set(), found);
  return found;
}

function collectPath(pieces: readonly (string | Node)[], locals: ReadonlySet<string>, found: FoundReference[]): void {
  const [first] = pieces;
  if (typeof first === 'string') {
    // A key is known only as far as no inner brace goes on with it.
    const written = pieces.length === 1 ? first : first.slice(0, Math.max(0, first.search(/[.[][^.[]*$/)));
    const [name, ...path] = keysOfPath(written) ?? [];
    if (name !== undefined && !locals.has(name)) found.push({ name, path, braced: true });
  }
  for (const piece of pieces) if (typeof piece !== 'string') collect(piece, [], locals, found);
}

function collect(node: Node, path: string[], locals: ReadonlySet<string>, found: FoundReference[]): void {
  const go = (child: Node): void => collect(child, [], locals, found);
  switch (node.type) {
    case 'literal':
      return;
    case 'variable':
      if (!locals.has(node.written)) found.push({ name: node.name, path });
      return;
    case 'path':
      return collectPath(node.pieces, locals, found);
    case 'braces':
      return go(node.body);
    case 'member':
      return collect(node.object, [node.name, ...path], locals, found);
    case 'index':
      if (node.index.type === 'literal' && typeof node.index.value === 'number')
        return collect(node.object, [String(node.index.value), ...path], locals, found);
      if (node.index.type === 'literal' && typeof node.index.value === 'string' && node.object.type === 'variable') {
        if (!locals.has(node.object.written)) found.push({ name: node.object.name, path: [], key: node.index.value });
        return;
      }
      collect(node.object, [], locals, found);
      return go(node.index);
    case 'method':
      go(node.object);
      for (const arg of node.args) {
        if (arg.type === 'arrow') collect(arg.body, [], new Set([...locals, ...arg.params]), found);
        else go(arg);
      }
      return;
    case 'function':
      return node.args.forEach(go);
    case 'unary':
      return go(node.operand);
    case 'binary':
      return [node.left, node.right].forEach(go);
    case 'choice':
      return [node.test, node.then, node.else].forEach(go);
    case 'array':
      return node.items.forEach((item) => go(item.value));
    case 'object':
      return node.entries.forEach((entry) =>
        (entry.type === 'entry' ? [entry.key, entry.value] : [entry.value]).forEach(go),
      );
    case 'template':
      return node.parts.forEach(go);
    default:
      return node satisfies never;
  }
}
