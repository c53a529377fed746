/** Text that was written with one indentation, as it stands in a file that has another. */

/** What the passage was given with, and what stands in the file in its place: line for line, blank ones apart. */
export interface Indents {
  given: string;
  found: string;
}

const indentOf = (line: string): string => /^[^\S\n]*/.exec(line)?.[0] ?? '';
const isBlank = (line: string): boolean => line.trim() === '';

/** `startsLine`: nothing but white space stands before it in the file. */
export function indentsOf(given: string, found: string, startsLine: boolean): Indents[] {
  const [givenLines, foundLines] = [given, found].map((text) => text.split('\n').filter((line) => !isBlank(line)));
  return (givenLines ?? []).flatMap((line, index) =>
    index === 0 && !startsLine ? [] : [{ given: indentOf(line), found: indentOf(foundLines?.[index] ?? '') }],
  );
}

/** `keepsFirst`: its first line goes on with a line of the file. */
export function reindented(text: string, indents: readonly Indents[], fileUnit: string, keepsFirst: boolean): string {
  const known = new Map(indents.map(({ given, found }) => [given, found]));
  return text
    .split('\n')
    .map((line, index) => {
      if (isBlank(line) || (index === 0 && keepsFirst)) return line;
      const indent = indentOf(line);
      return `${moved(indent, known, fileUnit)}${line.slice(indent.length)}`;
    })
    .join('\n');
}

function moved(indent: string, known: ReadonlyMap<string, string>, fileUnit: string): string {
  const same = known.get(indent);
  if (same !== undefined) return same;
  const within = [...known.keys()]
    .filter((given) => indent.startsWith(given))
    .toSorted((a, b) => b.length - a.length)[0];
  if (within === undefined) return outdented(indent, known);
  return `${known.get(within) ?? ''}${converted(indent.slice(within.length), known, fileUnit)}`;
}

/** Less than all that is known: as much less in the file. */
function outdented(indent: string, known: ReadonlyMap<string, string>): string {
  const [given, found] = [...known].toSorted(([a], [b]) => a.length - b.length)[0] ?? ['', ''];
  return found.slice(0, Math.max(0, found.length - (given.length - indent.length)));
}

/** What is indented further, in the file's own unit. */
function converted(rest: string, known: ReadonlyMap<string, string>, fileUnit: string): string {
  if (rest.startsWith('\t')) return fileUnit.startsWith('\t') ? rest : fileUnit.repeat(rest.length);
  const step = stepOf(known);
  const unit = step?.found ?? fileUnit;
  const given = step?.given.length ?? (rest.length % 4 === 0 ? 4 : 2);
  if (unit.startsWith('\t')) return unit.repeat(Math.max(1, Math.round(rest.length / given)));
  return step !== null && rest.length % given === 0 ? unit.repeat(rest.length / given) : rest;
}

/** One level, as the passage was given with it and as the file has it; null where the passage has but one. */
function stepOf(known: ReadonlyMap<string, string>): Indents | null {
  const all = [...known].toSorted(([a], [b]) => a.length - b.length);
  for (const [index, [given, found]] of all.entries()) {
    const [lessGiven = '', lessFound = ''] = all[index - 1] ?? [];
    if (index > 0 && given.startsWith(lessGiven) && found.startsWith(lessFound) && found !== lessFound)
      return { given: given.slice(lessGiven.length), found: found.slice(lessFound.length) };
  }
  return null;
}

/** How a file indents: a tab, or so many spaces. */
export function indentUnit(text: string): string {
  const found = /^(\t| +)\S/m.exec(text)?.[1];
  return found ?? '  ';
}
