/** Lines of a terminal as an SVG. Each run of characters is placed by its column, so every font keeps the columns. */
import type { Paint } from '../../client/show/paint.ts';

type Style = keyof Paint;

const colours: Readonly<Record<Style, string>> = {
  good: 'fill="#7ee787"',
  bad: 'fill="#ff7b72"',
  warn: 'fill="#e3b341"',
  dim: 'fill="#8b949e"',
  strong: 'font-weight="bold" fill="#f0f6fc"',
};
const styles = Object.keys(colours) as Style[];
const END = '\uE000';
const openings = new Map(styles.map((style, index) => [String.fromCodePoint(0xe001 + index), style]));

const marked =
  (style: Style) =>
  (text: string): string =>
    `${String.fromCodePoint(0xe001 + styles.indexOf(style))}${text}${END}`;

/** Marks styles with characters of the private use area, which `terminalPicture` reads back. */
export const PICTURE_PAINT: Paint = {
  good: marked('good'),
  bad: marked('bad'),
  warn: marked('warn'),
  dim: marked('dim'),
  strong: marked('strong'),
};

const size = { character: 8.4, line: 20, margin: 20 };

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

interface Piece {
  text: string;
  column: number;
  style: Style | undefined;
}

function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = [];
  const open: Style[] = [];
  let column = 0;
  for (const text of line.split(/([\uE000-\uE006])/)) {
    const style = openings.get(text);
    if (style !== undefined) open.push(style);
    else if (text === END) open.pop();
    else {
      // SVG collapses spaces, so what stands behind several of them is placed by its own column.
      for (const part of text.split(/(\s{2,})/)) {
        if (part.trim() !== '') pieces.push({ text: part, column, style: open.at(-1) });
        column += Array.from(part).length;
      }
    }
  }
  return pieces;
}

function drawn({ text, column, style }: Piece, y: number): string {
  const indent = text.length - text.trimStart().length;
  const shown = text.trim();
  const x = (size.margin + (column + indent) * size.character).toFixed(1);
  const width = (Array.from(shown).length * size.character).toFixed(1);
  const look = style === undefined ? '' : ` ${colours[style]}`;
  return `<text x="${x}" y="${y}" textLength="${width}" lengthAdjust="spacingAndGlyphs"${look}>${escaped(shown)}</text>`;
}

export function terminalPicture(title: string, lines: readonly string[]): string {
  const columns = Math.max(...lines.map((line) => Array.from(line.replaceAll(/[\uE000-\uE006]/g, '')).length));
  const width = Math.ceil(columns * size.character) + 2 * size.margin;
  const height = lines.length * size.line + 2 * size.margin;
  const texts = lines.flatMap((line, row) =>
    piecesOf(line).map((piece) => `  ${drawn(piece, size.margin + row * size.line + 14)}`),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9">`,
    `  <title>${escaped(title)}</title>`,
    `  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}
