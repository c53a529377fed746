/** How a reference inside text is written: where one may begin, its braces, and the parts of its path. */
import { endOfBraces } from '../expression/braces.ts';
import { isMethod, type Node } from '../expression/expression.ts';
import { parseExpression } from '../expression/parse.ts';

export type Part =
  | { type: 'field'; key: string; end: number }
  | { type: 'index'; key: number; end: number }
  | { type: 'call'; source: string; end: number };

/** Stands for the value so far in the expression that calls a method on it; nobody writes it. */
export const VALUE_SO_FAR = '\uE0FF';

export const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const FIELD = /\.([A-Za-z_][A-Za-z0-9_]*)/y;
const INDEX = /\[(\d{1,10})\]/y;
/** `.1`, as a path in braces counts; what goes on as a word (`.1st`) is none. */
const COUNT = /\.(0|[1-9]\d{0,9})(?![A-Za-z0-9_])/y;
const KEY = /\[(?:'([^'\]\n]*)'|"([^"\]\n]*)")\]/y;

const DOLLAR = 36;
const BRACE = 123;

/** Where the next reference may begin, or -1. Looks no further than it has to: a text may hold very many. */
export function nextReference(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOLLAR || (code === BRACE && text.charCodeAt(at + 1) === BRACE)) return at;
  }
  return -1;
}

export function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** What the braces at `at` mean; undefined for plain text, which a lone constant in braces is too. */
export function bracesAt(text: string, at: number): { end: number; root: Node } | undefined {
  const end = endOfBraces(text, at);
  const parsed = end === undefined ? undefined : parseExpression(text.slice(at, end));
  if (end === undefined || parsed?.ok !== true) return undefined;
  const { root } = parsed.expression;
  return root.type === 'braces' && root.body.type === 'literal' ? undefined : { end, root };
}

export function endOfParts(text: string, from: number): number {
  let end = from;
  for (let part = readPart(text, end); part !== undefined; part = readPart(text, end)) end = part.end;
  return end;
}

export function readPart(text: string, at: number): Part | undefined {
  const field = match(FIELD, text, at);
  if (field?.[1] !== undefined) {
    const end = at + field[0].length;
    return readCall(text, at, field[1], end) ?? { type: 'field', key: field[1], end };
  }
  const index = match(INDEX, text, at) ?? match(COUNT, text, at);
  if (index !== null) return { type: 'index', key: Number(index[1]), end: at + index[0].length };
  const key = match(KEY, text, at);
  return key === null ? undefined : { type: 'field', key: key[1] ?? key[2] ?? '', end: at + key[0].length };
}

function readCall(text: string, at: number, name: string, open: number): Part | undefined {
  if (!isMethod(name) || text.charAt(open) !== '(') return undefined;
  const end = endOfCall(text, open);
  if (end === undefined) return undefined;
  const source = `${VALUE_SO_FAR}${text.slice(at, end)}`;
  return parseExpression(source).ok ? { type: 'call', source, end } : undefined;
}

/** Arguments longer than this are not looked for: prose may well contain an open bracket. */
const callLengthMax = 500;

/** Behind the bracket that closes the one at `open`; undefined where none does. */
export function endOfCall(text: string, open: number): number | undefined {
  if (!text.slice(open, open + callLengthMax).includes(')')) return undefined;
  let depth = 0;
  let quote = '';
  for (let at = open; at < text.length && at < open + callLengthMax; at += 1) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === "'" || char === '"' || char === '`') quote = char;
    else if (char === '(') depth += 1;
    else if (char === ')') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
