/**
 * The first look at an expression: one pass over its characters that refuses what is too long, too
 * deep or too large for the recursive parser behind it, and that rewrites what the parser does not
 * know: a one-word placeholder stands for each pair of braces (`{{steps.0.exit_code}}`), and a part
 * of a path that counts becomes an index (`steps.0` is `steps[0]`).
 *
 * Invariant: text that passes cannot overflow the stack of the parser or of the evaluator.
 */
import { expressionDepthMax, expressionLengthMax, expressionNodesMax } from '../limits.ts';
import { contentOfBraces, endOfBraces, findingOfOpenBraces } from './braces.ts';

export interface Scanned {
  readonly text: string;
  /** What each placeholder stands for. */
  readonly braces: ReadonlyMap<string, ScannedBraces>;
}

/** A path is tried as it is written; with a hyphen in it, it may be a subtraction `otherwise`. */
export type ScannedBraces =
  | {
      readonly type: 'path';
      readonly pieces: readonly (string | ScannedBraces)[];
      readonly otherwise: Scanned | undefined;
    }
  | { readonly type: 'expression'; readonly scanned: Scanned };

export type Scan = { ok: true; scanned: Scanned } | { ok: false; message: string };

/** From the private use area: the parser takes it as a letter, and nobody writes it. */
const PLACEHOLDER = '\uE000';
const WORD = /[A-Za-z0-9_$\u0080-\uFFFF]/;

interface State {
  readonly text: string;
  at: number;
  tokens: number;
  ternaries: number;
  unaryRun: number;
  /** What was read last can have elements. */
  countable: boolean;
  /** Open brackets; a backtick stands for a template whose text is being read. */
  readonly open: string[];
  readonly out: string[];
  readonly braces: Map<string, ScannedBraces>;
}

export function scanExpression(text: string): Scan {
  return scanWithin(text, 0);
}

function refuse(message: string): Scan & { tokens: number } {
  return { ok: false, message, tokens: 0 };
}

/** `tokens`: those of the expression around this one, which count for it too. */
function scanWithin(text: string, tokens: number): Scan & { tokens: number } {
  if (text.length > expressionLengthMax) {
    return refuse(`the expression has ${text.length} characters; at most ${expressionLengthMax} are read`);
  }
  const state: State = {
    text,
    at: 0,
    tokens,
    ternaries: 0,
    unaryRun: 0,
    countable: false,
    open: [],
    out: [],
    braces: new Map(),
  };
  while (state.at < text.length) {
    const message = scanNext(state);
    if (message !== undefined) return refuse(message);
    if (state.tokens > expressionNodesMax) {
      return refuse(`the expression has more than ${expressionNodesMax} parts; split it over several steps`);
    }
    if (Math.max(state.open.length, state.ternaries, state.unaryRun) > expressionDepthMax) {
      return refuse(`the expression is nested deeper than ${expressionDepthMax} levels`);
    }
  }
  return { ok: true, scanned: { text: state.out.join(''), braces: state.braces }, tokens: state.tokens };
}

function scanNext(state: State): string | undefined {
  const char = state.text.charAt(state.at);
  if (state.open.at(-1) === '`') return scanTemplateText(state, char);
  if (/\s/.test(char)) {
    state.countable = false;
    return take(state, 1);
  }
  state.tokens += 1;
  if (char === '"' || char === "'") return scanString(state, char);
  if (state.text.startsWith('{{', state.at)) return scanBraces(state);
  if (WORD.test(char)) return scanWord(state);
  if (char === '`' || '([{'.includes(char)) state.open.push(char);
  else if (')]}'.includes(char)) state.open.pop();
  state.unaryRun = '!-+~'.includes(char) ? state.unaryRun + 1 : 0;
  return scanOperator(state, char);
}

function scanOperator(state: State, char: string): undefined {
  const next = state.text.charAt(state.at + 1);
  if (char === '.' && takeCount(state)) return undefined;
  state.countable = ')]}'.includes(char);
  if (char !== '?') return take(state, 1);
  if (next === '?' || next === '.') return take(state, 2);
  state.ternaries += 1;
  return take(state, 1);
}

/** `.0` behind a name, a bracket or another count is an index; behind a number it is its fraction. */
function takeCount(state: State): boolean {
  const digits = /^\.(\d{1,10})(?![A-Za-z0-9_$])/.exec(state.text.slice(state.at, state.at + 12))?.[1];
  if (digits === undefined || !state.countable) return false;
  state.out.push(`[${digits}]`);
  state.at += digits.length + 1;
  return true;
}

function scanWord(state: State): undefined {
  let end = state.at;
  while (end < state.text.length && WORD.test(state.text.charAt(end))) end += 1;
  state.unaryRun = 0;
  state.countable = !/\d/.test(state.text.charAt(state.at));
  return take(state, end - state.at);
}

function scanString(state: State, quote: string): string | undefined {
  let end = state.at + 1;
  while (end < state.text.length && state.text.charAt(end) !== quote) end += state.text.charAt(end) === '\\' ? 2 : 1;
  if (end >= state.text.length) return `the text that begins at character ${state.at} has no closing ${quote}`;
  state.unaryRun = 0;
  state.countable = false;
  return take(state, end + 1 - state.at);
}

function scanTemplateText(state: State, char: string): undefined {
  if (char === '\\') return take(state, 2);
  if (char === '`') {
    state.open.pop();
    return take(state, 1);
  }
  if (!state.text.startsWith('${', state.at)) return take(state, 1);
  state.open.push('{');
  state.tokens += 1;
  return take(state, 2);
}

function openBraces({ text, at }: State): string {
  const { finding, remedy } = findingOfOpenBraces(text, at);
  return [`the braces at character ${at} ${finding}`, remedy ?? []].flat().join('; ');
}

function scanBraces(state: State): string | undefined {
  const end = endOfBraces(state.text, state.at);
  if (end === undefined) return openBraces(state);
  const found = readBraces(state.text.slice(state.at + 2, end - 2), state);
  if (typeof found === 'string') return found;
  const placeholder = `${PLACEHOLDER}${state.braces.size}`;
  state.braces.set(placeholder, found);
  state.out.push(` ${placeholder} `);
  state.at = end;
  state.unaryRun = 0;
  state.countable = true;
  return undefined;
}

/** A text is the reason why there is nothing to read. */
function readBraces(source: string, state: State): ScannedBraces | string {
  const content = contentOfBraces(source);
  if (content === undefined) return `{{${source}}} holds no name and no expression; write it as {{name.path}}`;
  if (content.type === 'expression') {
    const scan = scanInner(content.source, state);
    return typeof scan === 'string' ? scan : { type: 'expression', scanned: scan };
  }
  const pieces: (string | ScannedBraces)[] = [];
  for (const piece of content.pieces) {
    const found = typeof piece === 'string' ? piece : readBraces(piece.inner, state);
    if (typeof piece !== 'string' && typeof found === 'string') return found;
    pieces.push(found);
  }
  state.tokens += source.split('.').length;
  const [only] = content.pieces;
  const otherwise =
    typeof only === 'string' && only.includes('-') && pieces.length === 1 ? scanInner(only, state) : undefined;
  return { type: 'path', pieces, otherwise: typeof otherwise === 'string' ? undefined : otherwise };
}

function scanInner(source: string, state: State): Scanned | string {
  const scan = scanWithin(source, state.tokens);
  if (!scan.ok) return scan.message;
  state.tokens = scan.tokens;
  return scan.scanned;
}

function take(state: State, length: number): undefined {
  state.out.push(state.text.slice(state.at, state.at + length));
  state.at += length;
}
