/** What a changeset changes, for whoever has to decide about it: a unified diff, bounded in size, and a line of words. */
import { structuredPatch } from 'diff';
import { SYMLINK } from '../../../world/git/trees/files-in-place.ts';
import type { PlannedFile } from './changeset.ts';
import type { Snapshot } from './files.ts';

export const DIFF_BOUNDS = {
  /** Of one line. */
  lineCharactersMax: 500,
  fileLinesMax: 400,
  /** Of all files together. */
  linesMax: 2_000,
  charactersMax: 64 * 1024,
  /** A file is shown with no less, or named alone. */
  fileLinesMin: 20,
  fileCharactersMin: 1024,
  /** Files that differ more are shown as their sizes: to find out how they differ takes too long. */
  editLengthMax: 1_000,
  /** Of all files together: lines and edits, times edits. A count and no time, so that every look shows the same. */
  searchMax: 30_000_000,
} as const;

const VERBS = { CREATE: 'creates', MODIFY: 'modifies', DELETE: 'deletes' } as const;

/** `change 3 files (creates 1, deletes 2)`. */
export function changeWords(files: readonly PlannedFile[]): string {
  const counts = (['CREATE', 'MODIFY', 'DELETE'] as const).flatMap((kind) => {
    const count = files.filter(({ operation }) => operation === kind).length;
    return count === 0 ? [] : [`${VERBS[kind]} ${count}`];
  });
  return `change ${files.length} file${files.length === 1 ? '' : 's'} (${counts.join(', ')})`;
}

/** What the searches for differences may still take. */
export interface Budget {
  left: number;
}

export const budgeted = (): Budget => ({ left: DIFF_BOUNDS.searchMax });

/**
 * Of the files in their order. What goes beyond the bounds is counted in its place. The order decides nothing else:
 * the smallest files are compared and measured first, and each has an equal share of what the smaller ones left.
 */
export function diffOf(files: readonly PlannedFile[], budget: Budget = budgeted()): string {
  const whole: string[][] = [];
  let waiting = files.length;
  for (const [index, file] of ascending(files, bytesOf)) {
    whole[index] = linesOf(file, budget, waiting).map((line) => narrowed(line));
    waiting -= 1;
  }
  const parts: (readonly string[])[] = [];
  let { linesMax: lines, charactersMax: characters } = DIFF_BOUNDS;
  waiting = files.length;
  for (const [index, own] of ascending(whole, charactersOf)) {
    const part = partOf(
      own,
      shareOf(lines, waiting, DIFF_BOUNDS.fileLinesMin),
      shareOf(characters, waiting, DIFF_BOUNDS.fileCharactersMin),
    );
    waiting -= 1;
    parts[index] = part;
    lines -= part.length;
    characters -= charactersOf(part);
  }
  const left = files.filter((_file, index) => parts[index]?.length === 0);
  const named = left.slice(0, namedMax).map(({ operation, path }) => `${operation} ${path}`);
  return [
    ...parts.flat(),
    ...(left.length === 0
      ? []
      : [narrowed(`… the diff goes on with ${left.length} more of the files: ${named.join(', ')}`)]),
  ].join('\n');
}

const namedMax = 20;

/** Equals stay in their order. */
const ascending = <One>(list: readonly One[], size: (one: One) => number): [number, One][] =>
  [...list.entries()].toSorted(([, a], [, b]) => size(a) - size(b));

const bytesOf = ({ before, after }: PlannedFile): number =>
  (before?.content.length ?? 0) + (after?.content.length ?? 0);

const charactersOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

/** An equal share, and at least so much; nothing where that is not left. */
function shareOf(left: number, waiting: number, min: number): number {
  const share = Math.max(Math.floor(left / waiting), min);
  return share > left ? 0 : share;
}

/** As many of the lines as fit, and how many do not; none where no share is left. */
function partOf(own: readonly string[], lines: number, characters: number): readonly string[] {
  if (lines === 0 || characters === 0) return [];
  const linesMax = Math.min(lines, DIFF_BOUNDS.fileLinesMax);
  if (own.length <= linesMax && charactersOf(own) <= characters) return own;
  const part: string[] = [];
  let size = 0;
  for (const line of own) {
    size += line.length + 1;
    if (part.length + 1 >= linesMax || size + noteMax > characters) break;
    part.push(line);
  }
  return [...part, `… ${own.length - part.length} more lines of this file`];
}

/** Room for the line that counts what is left out. */
const noteMax = 50;

/** No half of a surrogate pair stays. */
function narrowed(line: string): string {
  const max = DIFF_BOUNDS.lineCharactersMax;
  if (line.length <= max) return line;
  const end = /[\uD800-\uDBFF]/.test(line.charAt(max - 1)) ? max - 1 : max;
  return `${line.slice(0, end)}… ${line.length - end} more characters`;
}

function linesOf({ operation, path, before, after }: PlannedFile, budget: Budget, waiting: number): string[] {
  const head = [
    `${operation} ${path}`,
    ...(before !== null && after !== null && before.mode !== after.mode
      ? [`mode ${before.mode} -> ${after.mode}`]
      : after !== null && before === null && after.mode !== '100644'
        ? [`mode ${after.mode}`]
        : []),
  ];
  const [old, now] = [textOf(before), textOf(after)];
  if (old === null || now === null) return [...head, `${sizeOf(before)} -> ${sizeOf(after)}, not text`];
  if (old === now) return head;
  const names = [
    `--- ${before === null ? '/dev/null' : `a/${path}`}`,
    `+++ ${after === null ? '/dev/null' : `b/${path}`}`,
  ];
  if (before === null) return [...head, ...names, ...wholeLines('+', now)];
  if (after === null) return [...head, ...names, ...wholeLines('-', old)];
  const hunks = hunksOf(old, now, budget, waiting);
  return hunks === null
    ? [...head, `${sizeOf(before)} -> ${sizeOf(after)}, too different for a diff`]
    : [...head, ...names, ...hunks];
}

/** Null where the search would take too long. */
function hunksOf(old: string, now: string, budget: Budget, waiting: number): string[] | null {
  const size = newlinesIn(old) + newlinesIn(now);
  const maxEditLength = Math.min(DIFF_BOUNDS.editLengthMax, editsFor(budget.left / waiting, size));
  const patch = structuredPatch('', '', old, now, undefined, undefined, { context: 3, maxEditLength });
  const lines = patch?.hunks.flatMap((hunk) => hunk.lines);
  const edits = lines?.filter((line) => line.startsWith('+') || line.startsWith('-')).length ?? maxEditLength;
  budget.left -= edits * (size + edits);
  if (patch === undefined) return null;
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: own }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...own,
  ]);
}

/** The most edits for which edits times lines and edits is no more than is left. */
const editsFor = (left: number, size: number): number => Math.floor((Math.sqrt(size * size + 4 * left) - size) / 2);

const newlinesIn = (text: string): number => text.split('\n').length;

/** Of a file that comes or goes, which no search for what is common has to find out. */
function wholeLines(mark: '+' | '-', text: string): string[] {
  const isEnded = text.endsWith('\n');
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n');
  const range = mark === '+' ? `-0,0 +1,${lines.length}` : `-1,${lines.length} +0,0`;
  return [
    `@@ ${range} @@`,
    ...lines.map((line) => `${mark}${line}`),
    ...(isEnded ? [] : [String.raw`\ No newline at end of file`]),
  ];
}

const sizeOf = (snapshot: Snapshot | null): string =>
  snapshot === null ? 'nothing' : `${snapshot.content.length} bytes`;

/** Null: it is none. */
function textOf(snapshot: Snapshot | null): string | null {
  if (snapshot === null) return '';
  const { mode, content } = snapshot;
  const text = content.toString('utf8');
  if (text.includes('\0') || !Buffer.from(text, 'utf8').equals(content)) return null;
  return mode === SYMLINK ? `-> ${text}` : text;
}
