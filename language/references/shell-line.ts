/**
 * References inside a shell command line. Data never becomes code: no character of a value is ever
 * written into the line (whole integers in arithmetic are the one exception), it travels in a
 * variable and the line gets that variable's expansion, quoted for the place it stands in.
 *
 * | place                                    | a reference that resolves becomes            |
 * |------------------------------------------|----------------------------------------------|
 * | unquoted, `$( )`, backticks              | `"${SENTINEL_1}"`: one word, never split      |
 * | double quotes, body of an open heredoc   | `${SENTINEL_1}`                              |
 * | single quotes                            | `'"${SENTINEL_1}"'`: the quotes reopen after  |
 * | arithmetic (`$(( ))`, `(( ))`, `let`, …) | the integer itself; anything else is a fault  |
 * | comments, `${…}`, `$'…'`, quoted heredocs| left to the shell                            |
 * | `$name` that no definition sets          | left to the shell                            |
 * | a name of the run without a value        | nothing: the step fails                      |
 * | `$name` after the line has set that name | left to the shell (`shell-assignments.ts`)   |
 *
 * A line that is nothing but one reference is the command line itself. Should this reader and the
 * shell ever disagree about where a quote ends, a word may be split; data still does not run.
 */
import { Budget } from '../expression/budget.ts';
import { readReference, unresolvedIn, type Reference } from './reference.ts';
import { match, NAME } from './reference-syntax.ts';
import type { Fault, ScopeReader } from '../expression/scope.ts';
import { ShellAssignments } from './shell-assignments.ts';
import { ShellBindings } from './shell-bindings.ts';

export interface ShellLine {
  line: string;
  env: Record<string, string>;
  /** Texts too large for the environment: write each to a file and set `<NAME>_FILE` to its path. */
  files: Record<string, string>;
  /** References to a name of the run that has no value, or lacks the field; they became empty text. */
  unresolved: string[];
  faults: Fault[];
}

interface Heredoc {
  delimiter: string;
  quoted: boolean;
  tabs: boolean;
}

interface Command {
  type: 'command';
  close: '' | ')' | '`';
  depth: number;
  heredocs: Heredoc[];
  assignments: ShellAssignments;
}

type Frame =
  | Command
  | { type: 'double' }
  | { type: 'arithmetic'; close: ')' | ']'; depth: number }
  | { type: 'heredoc'; end: number; after: number };

interface Work {
  readonly line: string;
  readonly scope: ScopeReader;
  readonly budget: Budget;
  readonly bindings: ShellBindings;
  readonly unresolved: Set<string>;
  readonly faults: Fault[];
  /** Names that the line has set so far, and those of them that it reads after that. */
  readonly set: Set<string>;
  readonly shells: Set<string>;
  readonly out: string[];
  readonly frames: Frame[];
  at: number;
}

export function renderShellLine(line: string, scope: ScopeReader): ShellLine {
  const whole = wholeReference(line, scope);
  if (whole !== undefined) return whole;
  const { bindings, out, unresolved, faults } = walk(line, scope);
  const { env, files } = bindings;
  return { line: bindings.prelude() + out.join(''), env, files, unresolved: [...unresolved], faults };
}

/** Names that a line sets by itself and reads as `$name` after that: there, the shell's own value is meant. */
export function namesOfShell(line: string): string[] {
  return [...walk(line, { get: () => '', has: () => true }).shells];
}

function walk(line: string, scope: ScopeReader): Work {
  const work: Work = {
    line,
    scope,
    budget: new Budget(),
    bindings: new ShellBindings(),
    unresolved: new Set(),
    faults: [],
    set: new Set(),
    shells: new Set(),
    out: [],
    frames: [],
    at: 0,
  };
  beginCommands(work, '');
  while (work.at < line.length) step(work);
  return work;
}

function beginCommands(work: Work, close: Command['close']): void {
  const assignments = new ShellAssignments(work.set);
  work.frames.push({ type: 'command', close, depth: 0, heredocs: [], assignments });
}

function wholeReference(line: string, scope: ScopeReader): ShellLine | undefined {
  const trimmed = line.trim();
  const reference = readReference(trimmed, 0, scope, new Budget());
  if (reference?.end !== trimmed.length || reference.value === undefined) return undefined;
  return { line: reference.text, env: {}, files: {}, unresolved: [...unresolvedIn(reference)], faults: [] };
}

function step(work: Work): void {
  const frame = work.frames.at(-1);
  if (frame === undefined) return copy(work, work.line.length - work.at);
  if (frame.type === 'heredoc' && work.at >= frame.end) return endHeredoc(work, frame);
  const char = work.line.charAt(work.at);
  if (frame.type === 'command' && (char !== '`' || frame.close === '`')) frame.assignments.meet(work.line, work.at);
  if (char === '\\') return copy(work, 2);
  if (char === '`') return backtick(work, frame);
  if (char === '$' && dollar(work, frame)) return undefined;
  if ((char === '$' || char === '{') && writeReference(work, frame, work.line)) return undefined;
  if (frame.type === 'command') return command(work, frame, char);
  if (frame.type === 'arithmetic') return arithmetic(work, frame, char);
  if (frame.type === 'double' && char === '"') work.frames.pop();
  return copy(work, 1);
}

function copy(work: Work, length: number): void {
  work.out.push(work.line.slice(work.at, work.at + length));
  work.at += length;
}

function backtick(work: Work, frame: Frame): void {
  if (frame.type === 'command' && frame.close === '`') work.frames.pop();
  else beginCommands(work, '`');
  copy(work, 1);
}

/** What begins with `$` and belongs to the shell. */
function dollar(work: Work, frame: Frame): boolean {
  const rest = work.line.slice(work.at, work.at + 3);
  if (rest === '$((') {
    work.frames.push({ type: 'arithmetic', close: ')', depth: 0 });
    copy(work, 3);
  } else if (rest.startsWith('$[')) {
    work.frames.push({ type: 'arithmetic', close: ']', depth: 0 });
    copy(work, 2);
  } else if (rest.startsWith('$(')) {
    beginCommands(work, ')');
    copy(work, 2);
  } else if (rest.startsWith('${')) copy(work, lengthOfBraces(work.line, work.at));
  else if (rest.startsWith("$'") && frame.type === 'command')
    copy(work, lengthOfQuoted(work.line, work.at + 1, true) + 1);
  else if (rest.startsWith('$$')) copy(work, 2);
  else return false;
  return true;
}

function command(work: Work, frame: Command, char: string): void {
  const { line, at } = work;
  if (char === "'") return singleQuoted(work);
  if (char === '"') work.frames.push({ type: 'double' });
  else if (char === '#' && (at === 0 || /[\s;&|()]/.test(line.charAt(at - 1)))) {
    const end = line.indexOf('\n', at);
    return copy(work, (end === -1 ? line.length : end) - at);
  } else if (char === '<' && line.startsWith('<<', at)) return redirect(work, frame);
  else if (char === '\n' && frame.heredocs.length > 0) {
    copy(work, 1);
    return beginHeredoc(work, frame);
  } else if (line.startsWith('((', at) && (at === 0 || /[\s;&|]/.test(line.charAt(at - 1)))) {
    work.frames.push({ type: 'arithmetic', close: ')', depth: 0 });
    return copy(work, 2);
  } else if (char === '(') frame.depth += 1;
  else if (char === ')' && frame.depth > 0) frame.depth -= 1;
  else if (char === ')' && frame.close === ')') work.frames.pop();
  return copy(work, 1);
}

function arithmetic(work: Work, frame: Frame & { type: 'arithmetic' }, char: string): void {
  const open = frame.close === ')' ? '(' : '[';
  if (char === open) frame.depth += 1;
  else if (char === frame.close && frame.depth > 0) frame.depth -= 1;
  else if (char === frame.close) {
    work.frames.pop();
    return copy(work, work.line.startsWith('))', work.at) && frame.close === ')' ? 2 : 1);
  }
  return copy(work, 1);
}

function singleQuoted(work: Work): void {
  const end = work.at + lengthOfQuoted(work.line, work.at, false);
  const text = work.line.slice(0, end - 1);
  copy(work, 1);
  while (work.at < end) {
    const char = work.line.charAt(work.at);
    if ((char !== '$' && char !== '{') || !writeReference(work, 'single', text)) copy(work, 1);
  }
}

/** Length of a quoted text with both quotes, or of the rest when it is not closed. */
function lengthOfQuoted(line: string, at: number, escapes: boolean): number {
  const quote = line.charAt(at);
  for (let end = at + 1; end < line.length; end += 1) {
    if (escapes && line.charAt(end) === '\\') end += 1;
    else if (line.charAt(end) === quote) return end + 1 - at;
  }
  return line.length - at;
}

function lengthOfBraces(line: string, at: number): number {
  let depth = 0;
  for (let end = at; end < line.length; end += 1) {
    const char = line.charAt(end);
    if (char === '\\') end += 1;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return end + 1 - at;
    }
  }
  return line.length - at;
}

const HEREDOC = /<<(-?)[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|()<>'"\\])+)/y;

function redirect(work: Work, frame: Command): void {
  if (work.line.startsWith('<<<', work.at)) return copy(work, 3);
  HEREDOC.lastIndex = work.at;
  const found = HEREDOC.exec(work.line);
  const word = found?.[2];
  if (found === null || word === undefined) return copy(work, 2);
  frame.heredocs.push({
    delimiter: word.replaceAll(/['"\\]/g, ''),
    quoted: /['"\\]/.test(word),
    tabs: found[1] === '-',
  });
  return copy(work, found[0].length);
}

function beginHeredoc(work: Work, frame: Command): void {
  for (let heredoc = frame.heredocs.shift(); heredoc !== undefined; heredoc = frame.heredocs.shift()) {
    const { end, after } = bodyOf(work.line, work.at, heredoc);
    if (!heredoc.quoted) {
      work.frames.push({ type: 'heredoc', end, after });
      return;
    }
    copy(work, after - work.at);
  }
}

function endHeredoc(work: Work, frame: Frame & { type: 'heredoc' }): void {
  work.frames.pop();
  copy(work, Math.max(0, frame.after - work.at));
  const below = work.frames.at(-1);
  if (below?.type === 'command') beginHeredoc(work, below);
}

function bodyOf(line: string, from: number, heredoc: Heredoc): { end: number; after: number } {
  for (let start = from; start < line.length;) {
    const newline = line.indexOf('\n', start);
    const stop = newline === -1 ? line.length : newline;
    const text = line.slice(start, stop);
    if ((heredoc.tabs ? text.replace(/^\t+/, '') : text) === heredoc.delimiter) return { end: start, after: stop };
    start = stop + 1;
  }
  return { end: line.length, after: line.length };
}

/** Writes the expansion for a reference that resolves; false leaves the character to the shell. */
function writeReference(work: Work, place: Frame | 'single', text: string): boolean {
  if (isOfShell(work, text)) return false;
  const found = readReference(text, work.at, work.scope, work.budget);
  if (found === undefined) return false;
  if (found.fault !== undefined) work.faults.push(found.fault);
  else if (found.value === undefined) {
    const root = /[A-Za-z_][A-Za-z0-9_]*/.exec(found.written)?.[0] ?? '';
    if (!work.scope.has(root) && work.scope.isOfRun?.(root) !== true) return false;
    work.unresolved.add(found.written);
  } else for (const name of unresolvedIn(found)) work.unresolved.add(name);
  work.out.push(expansion(work, found, place));
  work.at = found.end;
  return true;
}

function isOfShell({ set, shells, at }: Work, text: string): boolean {
  const name = text.charAt(at) === '$' ? match(NAME, text, at + 1)?.[0] : undefined;
  if (name === undefined || !set.has(name)) return false;
  shells.add(name);
  return true;
}

function expansion(work: Work, found: Reference, place: Frame | 'single'): string {
  const inArithmetic = place !== 'single' && (place.type === 'arithmetic' || isCounted(work.line, work.at));
  if (inArithmetic && !/^-?(?:0|[1-9]\d{0,17})$/.test(found.text)) {
    return refuse(work, found, 'stands where the shell calculates and is not a whole number; the shell could run it');
  }
  if (!work.bindings.knows(found.text) && found.text.includes('\0'))
    return refuse(work, found, 'contains a NUL character, which no command line can carry');
  if (place !== 'single' && place.type === 'arithmetic')
    return found.text.startsWith('-') ? `(${found.text})` : found.text;
  const variable = `\${${work.bindings.bind(found.text)}}`;
  if (place === 'single') return `'"${variable}"'`;
  return place.type === 'command' ? `"${variable}"` : variable;
}

function refuse(work: Work, found: Reference, why: string): string {
  work.faults.push({ code: 'SHELL_REFERENCE_UNSAFE', message: `${found.written} ${why}` });
  return '';
}

/** Places outside `(( ))` where bash reads a word as arithmetic, which can run commands. */
const COUNTED_BEFORE = [
  /(?:^|[\s;&|({])(?:let|(?:declare|typeset|local|readonly|export)\s+-[A-Za-z]*i[A-Za-z]*)\s[^;&|\n]*$/,
  /(?:^|[\s;&|({])[A-Za-z_]\w*\[[^\]\s]*$/,
  /(?:\[\[?|\btest)\s+(?:!\s+)?-[vR]\s+["']?$/,
];
const windowLength = 300;
/** Without one of these nothing is counted; looking for them first keeps long lines quick. */
const COUNTS = /\[|\b(?:let|declare|typeset|local|readonly|export|test)\b/;

function isCounted(line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - windowLength), at);
  if (!COUNTS.test(before)) return false;
  if (COUNTED_BEFORE.some((pattern) => pattern.test(before))) return true;
  const open = before.lastIndexOf('[[');
  if (open === -1 || before.includes(']]', open)) return false;
  const rest = line.slice(at, at + windowLength);
  const close = rest.indexOf(']]');
  return /\s-(?:eq|ne|lt|le|gt|ge)\s/.test(before.slice(open) + (close === -1 ? rest : rest.slice(0, close)));
}
