/** What a changeset changes, for whoever has to decide about it: a unified diff, bounded in size, and a line of words. */
import { structuredPatch } from 'diff';
import { SYMLINK } from '../../../world/git/trees/files-in-place.ts';
import type { PlannedFile } from './changeset.ts';
import type { Snapshot } from './files.ts';

export const DIFF_BOUNDS = {
  /** Of one file, and of all together. */
  fileLinesMax: 400,
  linesMax: 2_000,
  charactersMax: 64 * 1024,
  /** Files that differ more are shown as their sizes: to find out how they differ takes too long. */
  editLengthMax: 1_000,
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

/** Of the files in order; what goes beyond the bounds is counted in its place. */
export function diffOf(files: readonly PlannedFile[]): string {
  const lines: string[] = [];
  let characters = 0;
  for (const [index, file] of files.entries()) {
    const own = cut(linesOf(file));
    const size = own.reduce((sum, line) => sum + line.length + 1, 0);
    if (lines.length + own.length > DIFF_BOUNDS.linesMax || characters + size > DIFF_BOUNDS.charactersMax) {
      const left = files.slice(index).map(({ operation, path }) => `${operation} ${path}`);
      lines.push(`… the diff goes on with ${left.length} more of the files: ${left.slice(0, 20).join(', ')}`);
      break;
    }
    lines.push(...own);
    characters += size;
  }
  return lines.join('\n');
}

function cut(lines: readonly string[]): string[] {
  const { fileLinesMax } = DIFF_BOUNDS;
  return lines.length <= fileLinesMax
    ? [...lines]
    : [...lines.slice(0, fileLinesMax), `… ${lines.length - fileLinesMax} more lines of this file`];
}

function linesOf({ operation, path, before, after }: PlannedFile): string[] {
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
  const options = { context: 3, maxEditLength: DIFF_BOUNDS.editLengthMax };
  const patch = structuredPatch('', '', old, now, undefined, undefined, options);
  if (patch === undefined) return [...head, `${sizeOf(before)} -> ${sizeOf(after)}, too different for a diff`];
  const hunks = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  return [...head, ...names, ...hunks];
}

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
