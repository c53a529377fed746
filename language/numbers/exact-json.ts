/**
 * JSON read so that no number becomes another one: one that the platform does not hold as it is written
 * (`12345678901234567890`) is had as text. Whoever hands it on hands on what came.
 */
import type { Json } from '../json.ts';
import { changeOf, mayChange } from './decimal.ts';

/** What becomes of decimals with more digits than are held: text as well, or the nearest number. */
export type Decimals = 'exact' | 'nearest';

/** Throws as `JSON.parse` does, with its message and its place. */
export function exactJson(text: string, decimals: Decimals = 'exact'): Json {
  const value = JSON.parse(text) as Json;
  if (!mayChange(text)) return value;
  const exact = exactText(text, decimals);
  return exact === text ? value : (JSON.parse(exact) as Json);
}

/** Programs of some systems begin a file with the mark of its encoding. */
export const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text);

/** JSON text in which the numbers that would change stand in quotes. */
export function exactText(text: string, decimals: Decimals = 'exact'): string {
  if (!mayChange(text)) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { at, written, fate } of changedNumbers(text)) {
    if (fate === 'rounded' && decimals === 'nearest') continue;
    parts.push(text.slice(from, at), `"${written}"`);
    from = at + written.length;
  }
  return from === 0 ? text : parts.join('') + text.slice(from);
}

interface WrittenNumber {
  at: number;
  written: string;
}

export interface ChangedNumber extends WrittenNumber {
  fate: 'rounded' | 'lost';
}

/** The text has been parsed, so it is known to be JSON. */
export function* changedNumbers(text: string): Generator<ChangedNumber> {
  if (!mayChange(text)) return;
  for (const { at, written } of numbersIn(text)) {
    const fate = changeOf(written);
    if (fate !== null) yield { at, written, fate };
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const [NINE, ZERO] = [57, 48];
const NUMBER = /-?[\d.eE+-]+/y;

export function* numbersIn(text: string): Generator<WrittenNumber> {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const written = NUMBER.exec(text)?.[0] ?? '';
      yield { at, written };
      at += written.length - 1;
    }
  }
}

/** Where the closing quote of a text in JSON stands, or behind the last character. */
export function endOfText(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source.charCodeAt(at) !== QUOTE) at += source.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
