/** Rows under a header, columns as wide as their widest cell. */
import type { Paint } from '../../client/show/paint.ts';
import { shownLength } from './ink.ts';

export function table(header: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string[] {
  if (rows.length === 0) return [];
  const widths = header.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(shownLength)),
  );
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - shownLength(cell))))
      .join('  ')
      .trimEnd();
  return [paint.dim(lineOf(header)), ...rows.map(lineOf)];
}
