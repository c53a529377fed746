/** What an edit changed, as a unified diff of the step's canonical JSON. */
import { structuredPatch } from 'diff';
import type { EditReply } from '../../interpreter/edits.ts';
import { PLAIN, type Paint } from './paint.ts';

export function stepDiff(
  { op, path, before, after }: Pick<EditReply, 'op' | 'path' | 'before' | 'after'>,
  paint: Paint = PLAIN,
): string[] {
  if (op === 'skip') return [paint.warn(`~ ${path} is skipped the next time it is reached`)];
  const { hunks } = structuredPatch(path, path, textOf(before), textOf(after), '', '', { context: 3 });
  const head = [
    paint.strong(`--- ${op === 'add' ? '(none)' : path}`),
    paint.strong(`+++ ${op === 'remove' ? '(none)' : path}`),
  ];
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    paint.dim(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`),
    ...changed.map((line) => (line.startsWith('+') ? paint.good(line) : line.startsWith('-') ? paint.bad(line) : line)),
  ]);
  return [...head, ...lines];
}

const textOf = (step: unknown): string => (step === null ? '' : `${JSON.stringify(step, null, 2)}\n`);
