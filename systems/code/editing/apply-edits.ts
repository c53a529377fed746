/**
 * Edits of a text: each is a passage and what comes in its place, one after the other, all or none. What is
 * written anew has the line ends of the text, and where the passage stood with other white space also its
 * indentation; everything else stays as it is, byte for byte.
 */
import { Failure } from '../../../world/failures/failures.ts';
import { indentsOf, indentUnit, reindented } from './indentation.ts';
import { findPassage, lineAt, nearestPassage, startOfIndentation, type Span } from './passage.ts';

export interface Edit {
  old: string;
  new: string;
  /** Every place of the passage; without it there must be one. */
  all?: boolean | undefined;
}

const candidatesMax = 20;
const shownLengthMax = 200;

/** The text as the edits leave it. `path` is for the failures. */
export function applyEdits(text: string, edits: readonly Edit[], path: string): string {
  return edits.reduce((before, edit, index) => {
    const which = edits.length === 1 ? '' : `edit ${index + 1} of ${edits.length}: `;
    return applyEdit(before, edit, `${which}"${path}"`);
  }, text);
}

function applyEdit(text: string, edit: Edit, where: string): string {
  const spans = findPassage(text, edit.old);
  if (spans.length === 0) throw notFound(text, edit, where);
  if (spans.length > 1 && edit.all !== true) throw ambiguous(text, spans, where);
  const pieces: string[] = [];
  let at = 0;
  for (const span of spans) {
    pieces.push(text.slice(at, span.start), replacement(text, edit, span));
    at = span.end;
  }
  return [...pieces, text.slice(at)].join('');
}

function replacement(text: string, { old, new: written }: Edit, span: Span): string {
  const lines = written.replaceAll('\r\n', '\n');
  if (!span.isTolerant) return withLineEnds(lines, text);
  const begins = startOfIndentation(text, span.start);
  const startsLine = text.slice(begins, span.start).trim() === '' && isLineStart(text, begins);
  const found = text.slice(startsLine ? begins : span.start, span.end);
  // The first line keeps the indentation that stands before the passage.
  const keepsFirst = span.start !== begins || !startsLine;
  const indents = indentsOf(old.replaceAll('\r\n', '\n'), found, startsLine);
  return withLineEnds(reindented(lines, indents, indentUnit(text), keepsFirst), text);
}

const isLineStart = (text: string, at: number): boolean => at === 0 || text[at - 1] === '\n';

/** The line ends that most lines of the text have. */
function withLineEnds(lines: string, text: string): string {
  const all = text.split('\n').length - 1;
  const carriage = text.split('\r\n').length - 1;
  return carriage * 2 > all ? lines.replaceAll('\n', '\r\n') : lines;
}

function notFound(text: string, { old }: Edit, where: string): Failure {
  const nearest = nearestPassage(text, old);
  const remedy =
    nearest === null
      ? 'read the file and give the passage as it stands there'
      : `most like it is line ${nearest.line} (${Math.round(nearest.similarity * 100)} %):\n${shown(nearest.text)}\nGive the passage as it stands there`;
  return new Failure('PASSAGE_NOT_FOUND', `${where}: the passage is not in the file; ${remedy}`, {
    details: { nearest: nearest === null ? null : { ...nearest, text: shown(nearest.text) } },
  });
}

function ambiguous(text: string, spans: readonly Span[], where: string): Failure {
  const candidates = spans.slice(0, candidatesMax).map(({ start, end }) => {
    const first = start + (text.slice(start, end).length - text.slice(start, end).trimStart().length);
    const found = lineAt(text, first);
    return { line: found.line, text: shown(found.text) };
  });
  const listed = candidates.map(({ line, text: said }) => `${line}: ${said}`).join('\n');
  return new Failure(
    'PASSAGE_AMBIGUOUS',
    `${where}: the passage is there ${spans.length} times, in the lines\n${listed}\nGive more of the lines around it, or "all": true for every place`,
    { details: { count: spans.length, candidates } },
  );
}

const shown = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line.length > shownLengthMax ? `${line.slice(0, shownLengthMax)}…` : line))
    .join('\n');
