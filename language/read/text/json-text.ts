/**
 * JSON text to a value, or why not: it is past a bound, or the place where it stops being JSON. The platform's parser does the work;
 * its messages do not always say where, so a refused text is walked once more to find out.
 */
import type { Problem } from '../../problems.ts';
import { checkTextBounds } from './text-bounds.ts';

export type JsonText = { ok: true; value: unknown } | { ok: false; problem: Problem };

export function readJsonText(text: string): JsonText {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const beyond = checkTextBounds(source);
  if (beyond !== undefined) return { ok: false, problem: beyond };
  try {
    return { ok: true, value: JSON.parse(source) };
  } catch {
    return { ok: false, problem: notJson(source) };
  }
}

function notJson(source: string): Problem {
  const { at, wanted } = firstError(source);
  const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
  const found = at >= source.length ? 'the text ends' : `${JSON.stringify(char)} stands`;
  return {
    code: 'NOT_JSON',
    severity: 'error',
    path: '',
    message: `${placeOf(source, at)}: ${found} where ${wanted} should be`,
  };
}

const LINE_END = 10;

function placeOf(source: string, at: number): string {
  let [line, begin] = [1, 0];
  for (let here = 0; here < at; here += 1) {
    if (source.charCodeAt(here) !== LINE_END) continue;
    line += 1;
    begin = here + 1;
  }
  return `line ${line}, column ${at - begin + 1}`;
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

function firstError(source: string): { at: number; wanted: string } {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = afterSpace(source, at);
    const token = nextToken(source, at);
    const next: Expected | undefined = token === null ? undefined : advance(expected, token[1], token[2], open);
    if (token === null || next === undefined) return { at, wanted: WANTED[expected] };
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
    if (code !== 32 && code !== 9 && code !== LINE_END && code !== 13) return at;
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
