/** The lines that a unified diff adds, and what is found in them. */
import type { Violation } from './manifest.ts';

export interface AddedLine {
  file: string;
  line: number;
  text: string;
}

export function addedLines(patch: string): AddedLine[] {
  const added: AddedLine[] = [];
  let file: string | null = null;
  let line = 0;
  // What a hunk still holds: a line of it may look like the head of a file.
  let [left, right] = [0, 0];
  for (const row of patch.split('\n')) {
    if (left > 0 || right > 0) {
      if (row.startsWith('+')) {
        if (file !== null) added.push({ file, line, text: row.slice(1) });
        line += 1;
        right -= 1;
      } else if (row.startsWith('-')) left -= 1;
      else if (!row.startsWith('\\')) {
        line += 1;
        left -= 1;
        right -= 1;
      }
      continue;
    }
    const [, before = '1', start, after = '1'] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
    if (start !== undefined) [line, left, right] = [Number(start), Number(before), Number(after)];
    else if (row.startsWith('+++ ')) file = pathOf(row.slice(4));
  }
  return added;
}

const pathOf = (printed: string): string | null => {
  const path = printed.replace(/\t$/, '');
  if (path === '/dev/null') return null;
  const plain = path.startsWith('"') ? unquoted(path) : path;
  return plain.replace(/^b\//, '');
};

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' };

const unquoted = (path: string): string =>
  Buffer.from(
    path
      .slice(1, -1)
      .replaceAll(/\\([0-7]{3}|.)/g, (_, code: string) =>
        code.length === 3 ? String.fromCodePoint(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
      ),
    'latin1',
  ).toString('utf8');

/** Every line of a file that is new as a whole. */
export const wholeFile = (file: string, text: string): AddedLine[] =>
  text.split('\n').map((row, at) => ({ file, line: at + 1, text: row }));

const VIOLATIONS_MAX = 500;
const TEXT_MAX = 200;
/** A longer line was not written by hand, and would take long to look at. */
const LINE_MAX = 5_000;

export function placeholdersIn(
  lines: readonly AddedLine[],
  { patterns, excludePaths }: { patterns: readonly string[]; excludePaths: readonly string[] },
): Violation[] {
  const wanted = patterns.map((pattern) => ({ pattern, regExp: new RegExp(pattern) }));
  const found: Violation[] = [];
  for (const { file, line, text } of lines) {
    if (text.length > LINE_MAX || found.length >= VIOLATIONS_MAX || isExcluded(file, excludePaths)) continue;
    const hit = wanted.find(({ regExp }) => regExp.test(text));
    if (hit !== undefined) found.push({ file, line, pattern: hit.pattern, text: text.trim().slice(0, TEXT_MAX) });
  }
  return found;
}

/** `tests/` is a folder anywhere; `*.test.*` the name of a file. */
export function isExcluded(path: string, patterns: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return patterns.some((pattern) =>
    pattern.endsWith('/')
      ? `/${path}`.includes(`/${pattern}`)
      : globOf(pattern).test(pattern.includes('/') ? path : name),
  );
}

const globOf = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll(/[.+^${}()|[\]\\?]/g, String.raw`\$&`).replaceAll('*', '.*')}$`);
