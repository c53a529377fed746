/**
 * Where a passage stands in a text: as it is written, or, where it stands nowhere so, with other white space.
 * Only the passage is looked at in that way; nothing else of the text is touched.
 */
import { distance } from 'fastest-levenshtein';

export interface Span {
  start: number;
  end: number;
  /** It stands there with other white space than it was given with. */
  isTolerant: boolean;
}

/** Every place of the passage, without overlaps, in order. */
export function findPassage(text: string, passage: string): Span[] {
  const exact = placesOf(text, passage);
  if (exact.length > 0) return exact.map((span) => wholeIndentation(text, passage, span));
  const otherEnds = placesOf(text, passage.includes('\r\n') ? toLineFeeds(passage) : passage.replaceAll('\n', '\r\n'));
  return otherEnds.length > 0 ? otherEnds : tolerantPlaces(text, passage);
}

/** A passage with less indentation than the file's stands within it as written, and still means the line. */
function wholeIndentation(text: string, passage: string, span: Span): Span {
  const start = /^[^\S\n]/.test(passage) ? startOfIndentation(text, span.start) : span.start;
  return start === span.start ? span : { ...span, start, isTolerant: true };
}

const toLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n');

/** In one pass, also where text and passage both repeat themselves: what was matched is never read again. */
function placesOf(text: string, passage: string): Span[] {
  const spans: Span[] = [];
  if (!text.includes(passage.slice(0, comparedLengthMax))) return spans;
  const borders = bordersOf(passage);
  for (let [at, matched] = [0, 0]; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && passage.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (passage.charCodeAt(matched) === unit) matched += 1;
    if (matched < passage.length) continue;
    spans.push({ start: at + 1 - matched, end: at + 1, isTolerant: false });
    matched = 0;
  }
  return spans;
}

/** For each beginning of the passage, the length of its longest beginning that it also ends with. */
function bordersOf(passage: string): Uint32Array {
  const borders = new Uint32Array(passage.length);
  for (let [at, length] = [1, 0]; at < passage.length; at += 1) {
    const unit = passage.charCodeAt(at);
    while (length > 0 && passage.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (passage.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** Of a passage whose blanks may differ: a longer one is none that an engine of patterns takes. */
const tolerantLengthMax = 20_000;
const tolerantWordsMax = 4_000;
/** Characters that are compared at most: from each place of its first word, the whole passage. */
const tolerantStepsMax = 50_000_000;

/** Blanks within a line stand for blanks, the end of a line for the end of one with any blank lines after it. */
function tolerantPlaces(text: string, passage: string): Span[] {
  if (passage.length > tolerantLengthMax) return [];
  const parts = passage.trim().split(/(\s+)/);
  const [first = ''] = parts;
  if (first === '' || parts.length > 2 * tolerantWordsMax) return [];
  if (placesOf(text, first).length * passage.length > tolerantStepsMax) return [];
  const pattern = parts
    .map((part, index) =>
      index % 2 === 0 ? escaped(part) : part.includes('\n') ? String.raw`[^\S\n]*\n\s*` : String.raw`[^\S\n]+`,
    )
    .join('');
  const [before, after] = [/^\s*/.exec(passage)?.[0] ?? '', passage.slice(passage.trimEnd().length)];
  return Array.from(text.matchAll(new RegExp(pattern, 'g')), (match) => {
    const [start, end] = [match.index, match.index + match[0].length];
    return {
      start: before === '' ? start : startOfIndentation(text, start),
      end: after.includes('\n') ? endOfLine(text, end) : end,
      isTolerant: true,
    };
  });
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

/** The beginning of the line, where nothing but white space stands before. */
export function startOfIndentation(text: string, at: number): number {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  return text.slice(line, at).trim() === '' ? line : at;
}

function endOfLine(text: string, at: number): number {
  const rest = /^[^\S\n]*\n/.exec(text.slice(at, at + 1_000));
  return rest === null ? at : at + rest[0].length;
}

/** The number of the line, from 1, and its text. */
export function lineAt(text: string, at: number): { line: number; text: string } {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const shown = text.slice(start, end === -1 ? undefined : end).replace(/\r$/, '');
  return { line: text.slice(0, start).split('\n').length, text: shown };
}

export interface Nearest {
  /** Of its first line, from 1. */
  line: number;
  /** From 0 to 1. */
  similarity: number;
  text: string;
}

const comparedLinesMax = 20_000;
/** Pairs of lines. */
const comparisonsMax = 50_000;
const comparedLengthMax = 200;
const windowMax = 40;

/** The lines that are most like the passage; null where nothing is. */
export function nearestPassage(text: string, passage: string): Nearest | null {
  const wanted = toLineFeeds(passage).trim().split('\n').slice(0, windowMax).map(plain);
  const lines = toLineFeeds(text).split('\n').slice(0, comparedLinesMax);
  const plains = lines.map(plain);
  const likeness = new Map<string, number>();
  const alike = (a: string, b: string): number => {
    const key = `${a}\n${b}`;
    const known = likeness.get(key) ?? similarity(a, b);
    likeness.set(key, known);
    return known;
  };
  let best: { at: number; score: number } | null = null;
  for (let at = 0; at < lines.length && likeness.size < comparisonsMax; at += 1) {
    const first = alike(plains[at] ?? '', wanted[0] ?? '');
    // Another window can only be better where its first line, or its second, is like the passage's.
    if (wanted.length > 2 && first < 0.5 && alike(plains[at + 1] ?? '', wanted[1] ?? '') < 0.5) continue;
    const score = wanted.reduce((sum, line, offset) => sum + alike(plains[at + offset] ?? '', line), 0) / wanted.length;
    if (score > (best?.score ?? 0)) best = { at, score };
  }
  if (best === null || best.score < 0.3) return null;
  return {
    line: best.at + 1,
    similarity: Math.round(best.score * 100) / 100,
    text: lines.slice(best.at, best.at + wanted.length).join('\n'),
  };
}

const plain = (line: string): string => line.trim().replaceAll(/\s+/g, ' ').slice(0, comparedLengthMax);

function similarity(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  return longest === 0 ? 1 : 1 - distance(a, b) / longest;
}
