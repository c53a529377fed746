/**
 * One reference inside text: `$name`, `$name.path[0]`, `$name.method('a', 'b')` or `{{…}}` with a path
 * or an expression in it. Used by templates and by shell lines, so that both read a reference alike.
 *
 * The longest path that resolves wins. What follows a text, a number or a boolean that has no such
 * field is not part of the reference (`$topic.md`, `$query.`); a field that an object or an array
 * lacks makes the reference unresolved, because a whole object is never what was meant there.
 */
import { isJsonObject, type Json } from './json.ts';
import { property, textValue, type Fault, type ScopeReader } from './scope.ts';
import { Halt, type Budget } from './expression/budget.ts';
import { tryEvaluate } from './expression/evaluate.ts';
import { endOfBraces, keysOfPath } from './expression/braces.ts';
import type { UnknownCall } from './expression/convert.ts';
import { isMethod, type Node } from './expression/expression.ts';
import { readable } from './expression/json-text.ts';
import { parseExpression, referencesOf, type FoundReference } from './expression/parse.ts';

export interface Reference {
  /** First index after the reference. */
  end: number;
  written: string;
  /** `undefined` when nothing of that name is set. */
  value: Json | undefined;
  /** The value as text: a command's result, used whole, stands for its text field. */
  text: string;
  fault?: Fault;
}

type Part =
  | { type: 'field'; key: string; end: number }
  | { type: 'index'; key: number; end: number }
  | { type: 'call'; source: string; end: number };

/** Stands for the value so far in the expression that calls a method on it; nobody writes it. */
const VALUE_SO_FAR = '\uE0FF';

/** What stands before the number or the label of a step (`steps.0`, `named.build`). */
const RESULT_ROOTS: ReadonlySet<string> = new Set(['steps', 'loop', 'named']);

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const FIELD = /\.([A-Za-z_][A-Za-z0-9_]*)/y;
const INDEX = /\[(\d{1,10})\]/y;
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

/** The reference that begins at `at`, or undefined when what stands there is plain text. */
export function readReference(text: string, at: number, scope: ScopeReader, budget: Budget): Reference | undefined {
  if (text.charAt(at) === '$') return readDollar(text, at, scope, budget);
  return text.startsWith('{{', at) ? readBraces(text, at, scope, budget) : undefined;
}

/** Whether what a text stands for is known only when a run reaches it. */
export const isTemplate = (text: string): boolean => referencesIn(text).length > 0;

/**
 * Whether a `$ref` stands for what a run finds in its variables. A definition may have a name that reads
 * like one (`cost$eur`), and is meant by it; a text that is nothing but a reference never is a name.
 */
export function isReferredLater(ref: string, isName: (name: string) => boolean): boolean {
  const found = referencesIn(ref);
  return found.some(({ written }) => written === ref) || (found.length > 0 && !isName(ref));
}

/** The references a text is written with, whatever they stand for: name, plain path, and the text. */
export function referencesIn(text: string): Array<FoundReference & { written: string }> {
  const found: Array<FoundReference & { written: string }> = [];
  for (let at = nextReference(text, 0); at !== -1; at = nextReference(text, at + 1)) {
    if (at > 0 && text.charAt(at - 1) === '\\') continue;
    const braces = text.charAt(at) === '{' ? bracesAt(text, at) : undefined;
    if (braces !== undefined) {
      const written = text.slice(at, braces.end);
      found.push(...referencesOf({ text: written, root: braces.root }).map((reference) => ({ ...reference, written })));
      at = braces.end - 1;
      continue;
    }
    const [name, ...path] = dollarPath(text, at);
    if (name !== undefined) found.push({ name, path, written: [`$${name}`, ...path].join('.') });
  }
  return found;
}

export interface Unread {
  /** The name it begins with. */
  name: string;
  /** What stands in its braces. */
  content: string;
  written: string;
  finding: string;
  /** The call that the finding is about. */
  unknown?: UnknownCall;
}

const UNREAD_NAME = /\s*([A-Za-z_][A-Za-z0-9_]*)/y;
const unreadLengthMax = 120;
const unreadMax = 20;

/** What looks like a reference, begins with a name, and is plain text to us. */
export function unreadIn(text: string): Unread[] {
  const found: Unread[] = [];
  for (let at = nextReference(text, 0); at !== -1 && found.length < unreadMax; at = nextReference(text, at + 1)) {
    if (at > 0 && text.charAt(at - 1) === '\\') continue;
    const isDollar = text.charAt(at) === '$';
    if (!isDollar && bracesAt(text, at) !== undefined) at = (endOfBraces(text, at) ?? at + 1) - 1;
    else if (!isDollar || text.startsWith('${', at)) found.push(...unreadAt(text, at, isDollar));
  }
  return found;
}

function unreadAt(text: string, at: number, isDollar: boolean): Unread[] {
  const name = match(UNREAD_NAME, text, at + 2)?.[1];
  if (name === undefined) return [];
  const end = isDollar ? undefined : endOfBraces(text, at);
  const written = text.slice(at, Math.min(end ?? text.length, at + unreadLengthMax)).split(/(?<=\}\}?(?!\}))|\n/, 1)[0] ?? '';
  const content = written.replace(/^[${]+/, '').replace(/\}+$/, '').trim();
  // Another language's: `{{.Names}}`, `{{json .}}`.
  if (!isDollar && /(?:^|\s)\./.test(content)) return [];
  const parsed = end === undefined ? undefined : parseExpression(text.slice(at, end));
  if (parsed?.ok === true) return [];
  const open = 'braces of a reference are closed with }} on the same line, and hold no single brace';
  const unknown = parsed?.unknown === undefined ? {} : { unknown: parsed.unknown };
  return [{ name, content, written, finding: isDollar ? 'a name behind $ has no braces' : (parsed?.problem.message ?? open), ...unknown }];
}

function dollarPath(text: string, at: number): string[] {
  const name = text.charAt(at) === '$' ? match(NAME, text, at + 1)?.[0] : undefined;
  if (name === undefined) return [];
  const path = [name];
  let part = readPart(text, at + 1 + name.length);
  for (; part !== undefined && part.type !== 'call'; part = readPart(text, part.end)) path.push(String(part.key));
  return path;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** What the braces at `at` mean; undefined for plain text, which a lone constant in braces is too. */
function bracesAt(text: string, at: number): { end: number; root: Node } | undefined {
  const end = endOfBraces(text, at);
  const parsed = end === undefined ? undefined : parseExpression(text.slice(at, end));
  if (end === undefined || parsed?.ok !== true) return undefined;
  const { root } = parsed.expression;
  return root.type === 'braces' && root.body.type === 'literal' ? undefined : { end, root };
}

function readBraces(text: string, at: number, scope: ScopeReader, budget: Budget): Reference | undefined {
  const braces = bracesAt(text, at);
  if (braces === undefined) return undefined;
  const { end, root } = braces;
  const written = text.slice(at, end);
  const result = tryEvaluate({ text: written, root }, scope, budget);
  if (!result.ok) return { end, written, value: undefined, text: '', fault: { code: result.code, message: `${written}: ${result.message}` } };
  return { end, written, value: result.value, ...textIn(bracesText(root, result.value, scope), written, budget) };
}

/** A value that has no text cannot be used at all: nothing that takes it could write it down. */
function textIn(value: Json | undefined, written: string, budget: Budget): { text: string; value?: undefined; fault?: Fault } {
  try {
    return { text: budget.written(value) };
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    return { text: '', value: undefined, fault: { ...error.fault, message: `${written}: ${error.fault.message}` } };
  }
}

/** The result of a step, used whole, stands for its output. */
function bracesText(root: Node, value: Json | undefined, scope: ScopeReader): Json | undefined {
  const [only] = root.type === 'path' && root.pieces.length === 1 ? root.pieces : [];
  const [name = '', ...path] = typeof only === 'string' ? (keysOfPath(only) ?? []) : [];
  if (path.length === 1 && RESULT_ROOTS.has(name) && isJsonObject(value)) return value['output'] ?? value;
  return name !== '' && path.length === 0 ? textValue(scope, name, value) : value;
}

function readDollar(text: string, at: number, scope: ScopeReader, budget: Budget): Reference | undefined {
  const name = match(NAME, text, at + 1)?.[0];
  if (name === undefined) return undefined;
  const nameEnd = at + 1 + name.length;
  let value = scope.get(name);
  let end = nameEnd;
  const done = (last: number, reached: Json | undefined, fault?: Fault): Reference => {
    const written = text.slice(at, last);
    const texts = textIn(last === nameEnd ? textValue(scope, name, reached) : reached, written, budget);
    return { end: last, written, value: reached, ...texts, ...(fault === undefined ? {} : { fault }) };
  };
  for (let part = readPart(text, end); part !== undefined; part = readPart(text, part.end)) {
    const own = follow(value, part, scope, budget);
    if (own.fault !== undefined) return done(part.end, undefined, own.fault);
    const next = own.value === undefined && end === nameEnd ? fieldOfStep(name, part, scope) : own.value;
    if (next === undefined && value === undefined) return done(endOfParts(text, end), undefined);
    if (next === undefined && isScalar(own.from) && part.type !== 'call') return done(end, value);
    value = next;
    end = part.end;
  }
  return done(end, value);
}

/** A field that a variable lacks may be one of the step with this label. */
function fieldOfStep(name: string, part: Part, scope: ScopeReader): Json | undefined {
  return part.type === 'field' ? scope.stepField?.(name, part.key) : undefined;
}

function isScalar(value: Json | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function endOfParts(text: string, from: number): number {
  let end = from;
  for (let part = readPart(text, end); part !== undefined; part = readPart(text, end)) end = part.end;
  return end;
}

function readPart(text: string, at: number): Part | undefined {
  const field = match(FIELD, text, at);
  if (field?.[1] !== undefined) {
    const end = at + field[0].length;
    return readCall(text, at, field[1], end) ?? { type: 'field', key: field[1], end };
  }
  const index = match(INDEX, text, at);
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

function endOfCall(text: string, open: number): number | undefined {
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

interface Followed {
  /** What the part was read of. */
  from: Json | undefined;
  value: Json | undefined;
  fault?: Fault;
}

function follow(value: Json | undefined, part: Part, scope: ScopeReader, budget: Budget): Followed {
  if (value === undefined) return { from: value, value };
  if (part.type === 'call') return { from: value, ...call(value, part.source, scope, budget) };
  try {
    const from = scope.keepsText === true ? value : readable(value, part.key, false, budget);
    // An index reads an element; the characters of a text are left alone, for prose such as `$name[1]`.
    return { from, value: part.type === 'index' && typeof from === 'string' ? undefined : property(from, part.key) };
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    return { from: value, value: undefined, fault: { ...error.fault, message: `.${part.key}: ${error.fault.message}` } };
  }
}

function call(value: Json, source: string, scope: ScopeReader, budget: Budget): { value: Json | undefined; fault?: Fault } {
  const inner: ScopeReader = {
    // Arguments read what `$` reads.
    ...(scope.stepField === undefined ? readsAs(scope) : scope),
    get: (name) => (name === VALUE_SO_FAR ? value : scope.get(name)),
    has: (name) => name === VALUE_SO_FAR || scope.has(name),
  };
  const result = tryEvaluate(source, inner, budget);
  if (result.ok) return { value: result.value };
  return { value: undefined, fault: { code: result.code, message: `${source.slice(1)}: ${result.message}` } };
}

const readsAs = ({ keepsText }: ScopeReader): Pick<ScopeReader, 'keepsText'> => (keepsText === undefined ? {} : { keepsText });
