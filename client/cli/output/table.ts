/** Rows under a header, columns as wide as their widest cell. */
import { stripVTControlCharacters } from 'node:util';
import type { Paint } from '../../show/paint.ts';

export function table(header: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string[] {
  if (rows.length === 0) return [];
  const widths = header.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(widthOf)),
  );
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd();
  return [paint.dim(lineOf(header)), ...rows.map(lineOf)];
}

function widthOf(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length;
}
