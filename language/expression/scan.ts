/**
 * The first look at an expression: one pass over its characters that refuses what is too long, too
 * deep or too large for the recursive parser behind it, and that stands a one-word placeholder in
 * for each brace reference (`{{steps.0.exit_code}}`), which the parser does not know.
 *
 * Invariant: text that passes cannot overflow the stack of the parser or of the evaluator.
 */
import { expressionDepthMax, expressionLengthMax, expressionNodesMax } from '../limits.ts';

export type Scan =
  | { ok: true; text: string; braces: ReadonlyMap<string, readonly string[]> }
  | { ok: false; message: string };

/** From the private use area: the parser takes it as a letter, and nobody writes it. */
const PLACEHOLDER = '\uE000';
const BRACE = /^\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)\s*\}\}/;
const WORD = /[A-Za-z0-9_$\u0080-\uFFFF]/;

interface State {
  readonly text: string;
  at: number;
  tokens: number;
  ternaries: number;
  unaryRun: number;
  /** Open brackets; a backtick stands for a template whose text is being read. */
  readonly open: string[];
  readonly out: string[];
  readonly braces: Map<string, readonly string[]>;
}

export function scanExpression(text: string): Scan {
  if (text.length > expressionLengthMax) {
    return { ok: false, message: `the expression has ${text.length} characters; at most ${expressionLengthMax} are read` };
  }
  const state: State = { text, at: 0, tokens: 0, ternaries: 0, unaryRun: 0, open: [], out: [], braces: new Map() };
  while (state.at < text.length) {
    const message = scanNext(state);
    if (message !== undefined) return { ok: false, message };
    if (state.tokens > expressionNodesMax) {
      return { ok: false, message: `the expression has more than ${expressionNodesMax} parts; split it over several steps` };
    }
    if (Math.max(state.open.length, state.ternaries, state.unaryRun) > expressionDepthMax) {
      return { ok: false, message: `the expression is nested deeper than ${expressionDepthMax} levels` };
    }
  }
  return { ok: true, text: state.out.join(''), braces: state.braces };
}

function scanNext(state: State): string | undefined {
  const char = state.text.charAt(state.at);
  if (state.open.at(-1) === '`') return scanTemplateText(state, char);
  if (/\s/.test(char)) return take(state, 1);
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
  if (char !== '?') return take(state, 1);
  if (next === '?' || next === '.') return take(state, 2);
  state.ternaries += 1;
  return take(state, 1);
}

function scanWord(state: State): undefined {
  let end = state.at;
  while (end < state.text.length && WORD.test(state.text.charAt(end))) end += 1;
  state.unaryRun = 0;
  return take(state, end - state.at);
}

function scanString(state: State, quote: string): string | undefined {
  let end = state.at + 1;
  while (end < state.text.length && state.text.charAt(end) !== quote) end += state.text.charAt(end) === '\\' ? 2 : 1;
  if (end >= state.text.length) return `the text that begins at character ${state.at} has no closing ${quote}`;
  state.unaryRun = 0;
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

function scanBraces(state: State): string | undefined {
  const match = BRACE.exec(state.text.slice(state.at, state.at + 500));
  const path = match?.[1];
  if (match === null || path === undefined) {
    return `the reference at character ${state.at} is not a plain path; write it as {{name.path}}`;
  }
  const placeholder = `${PLACEHOLDER}${state.braces.size}`;
  state.braces.set(placeholder, path.split('.'));
  state.tokens += path.split('.').length;
  state.out.push(` ${placeholder} `);
  state.at += match[0].length;
  state.unaryRun = 0;
  return undefined;
}

function take(state: State, length: number): undefined {
  state.out.push(state.text.slice(state.at, state.at + length));
  state.at += length;
}
