/**
 * JSON text to a value, or why not: it is past a bound, or the place where it stops being JSON. The
 * platform's parser does the work; its messages do not always say where, so a refused text is walked once
 * more to find out. This stays ours: jsonc-parser takes 50 to 150 ms for a hostile text of 1 MB where this
 * takes 20, recurses, and does not say what should stand where it found an unknown word.
 */
import { exactJson, withoutMark } from '../../numbers/exact-json.ts';
import type { Problem } from '../../problems.ts';
import { placesIn } from './place.ts';
import { checkTextBounds } from './text-bounds.ts';

/** `at`: where the text stops being JSON. */
export type JsonText = { ok: true; value: unknown } | { ok: false; problem: Problem; at?: number };

export function readJsonText(text: string): JsonText {
  const source = withoutMark(text);
  const beyond = checkTextBounds(source);
  if (beyond !== undefined) return { ok: false, problem: beyond };
  try {
    return { ok: true, value: exactJson(source, 'nearest') };
  } catch {
    const { at, message } = faultIn(source);
    const problem: Problem = {
      code: 'NOT_JSON',
      severity: 'error',
      path: '',
      message: `${placesIn(source)(at)}: ${message}`,
    };
    return { ok: false, problem, at: at + (text.length - source.length) };
  }
}

interface Fault {
  at: number;
  message: string;
}

/** What is often written although JSON does not have it is named, with the remedy. */
function faultIn(source: string): Fault {
  const { at, expected } = firstError(source);
  const char = source[at];
  if (source.startsWith('/*', at) && !source.includes('*/', at + 2))
    return { at, message: 'the comment that begins here has no end; write "*/" behind it' };
  if (source.startsWith('//', at) || source.startsWith('/*', at))
    return { at, message: 'JSON has no comments; remove it, or put the text in a "description" or in a key "//"' };
  if ((char === ']' && expected === 'value') || (char === '}' && expected === 'key')) {
    const before = source.slice(0, at).trimEnd();
    if (before.endsWith(','))
      return { at: before.length - 1, message: `JSON has no comma before "${char}"; remove it` };
  }
  if (char === '"' && TAKES_TEXT.has(expected)) return faultOfText(source, at);
  const found = char === undefined ? 'the text ends' : `${JSON.stringify(wordAt(source, at))} stands`;
  const remedy = char === "'" ? '; JSON has double quotes only' : '';
  return { at, message: `${found} where ${WANTED[expected]} should be${remedy}` };
}

/** The word or number that stands there, or the character. */
function wordAt(source: string, at: number): string {
  const rest = source.slice(at, at + WORD_LENGTH_MAX);
  return /^[\w.+-]+/.exec(rest)?.[0] ?? String.fromCodePoint(rest.codePointAt(0) ?? 0);
}

const WORD_LENGTH_MAX = 40;

/** As much of a text in double quotes as JSON allows. */
// oxlint-disable-next-line no-control-regex -- JSON refuses control characters inside texts
const TEXT_BEGIN = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y;

function faultOfText(source: string, begin: number): Fault {
  TEXT_BEGIN.lastIndex = begin;
  let at = begin + (TEXT_BEGIN.exec(source)?.[0].length ?? 0);
  if (source[at] === '\\') {
    const escaped = source.codePointAt(at + 1) ?? 0;
    if (escaped === 'u'.charCodeAt(0)) return { at, message: '"\\u" needs four hexadecimal digits behind it' };
    const escape = `\\${String.fromCodePoint(escaped)}`;
    if (escaped >= 32)
      return { at, message: `"${escape}" is no escape sequence of JSON; a backslash itself is written "\\\\"` };
    at += 1;
  }
  const char = source[at];
  if (char === undefined) return { at: begin, message: 'the text that begins here has no closing quote' };
  if (char === '\n' || char === '\r')
    return { at, message: 'the line ends inside a text; close the text, or write the line end as "\\n"' };
  const written = JSON.stringify(char).slice(1, -1);
  return { at, message: `a control character stands inside a text; write it as "${written}"` };
}

const TOKEN =
  // oxlint-disable-next-line no-control-regex -- JSON refuses control characters inside texts
  /(?:([{}[\],:])|("(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![A-Za-z0-9_.]))/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

const WANTED: Readonly<Record<Expected, string>> = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  key: 'a key in double quotes',
  'key or }': 'a key in double quotes or "}"',
  colon: '":"',
  comma: '"," or the closing bracket',
  end: 'the end',
};

const TAKES_TEXT: ReadonlySet<Expected> = new Set(['value', 'value or ]', 'key', 'key or }']);

function firstError(source: string): { at: number; expected: Expected } {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = afterSpace(source, at);
    const token = nextToken(source, at);
    const next: Expected | undefined = token === null ? undefined : advance(expected, token[1], token[2], open);
    if (token === null || next === undefined) return { at, expected };
    expected = next;
    at += token[0].length;
  }
}

type Token = readonly [all: string, mark: string | undefined, text: string | undefined];

const MARKS: ReadonlyMap<number, Token> = new Map(
  Array.from('{}[],:', (mark) => [mark.charCodeAt(0), [mark, mark, undefined]]),
);

/** The pattern is slow on long runs of brackets, so a mark goes without it. */
function nextToken(source: string, at: number): Token | null {
  const mark = MARKS.get(source.charCodeAt(at));
  if (mark !== undefined) return mark;
  TOKEN.lastIndex = at;
  const found = TOKEN.exec(source);
  return found === null ? null : [found[0], found[1], found[2]];
}

function afterSpace(source: string, from: number): number {
  for (let at = from; ; at += 1) {
    const code = source.charCodeAt(at);
    if (code !== 32 && code !== 9 && code !== 10 && code !== 13) return at;
  }
}

/** What may follow this token, or undefined when the token may not stand here. */
function advance(
  expected: Expected,
  mark: string | undefined,
  text: string | undefined,
  open: string[],
): Expected | undefined {
  if (expected === 'colon') return mark === ':' ? 'value' : undefined;
  if (expected === 'comma' && mark === ',') return open.at(-1) === '{' ? 'key' : 'value';
  const closes =
    (mark === '}' && open.at(-1) === '{' && expected !== 'key') ||
    (mark === ']' && open.at(-1) === '[' && expected !== 'value');
  if (closes && (expected === 'comma' || expected === 'key or }' || expected === 'value or ]')) {
    open.pop();
    return open.length === 0 ? 'end' : 'comma';
  }
  if (expected === 'key' || expected === 'key or }') return text === undefined ? undefined : 'colon';
  if (expected !== 'value' && expected !== 'value or ]') return undefined;
  if (mark === '{' || mark === '[') {
    open.push(mark);
    return mark === '{' ? 'key or }' : 'value or ]';
  }
  if (mark !== undefined) return undefined;
  return open.length === 0 ? 'end' : 'comma';
}
