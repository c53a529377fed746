/**
 * A value as lines for people: all of it, and no two values look alike. Text of one line stands as it is where
 * it can be taken for nothing else, else behind a bar, and line by line where it has several; what cannot be
 * seen in it stands as JSON's escape for it, behind `|"`.
 */
import { isJsonObject, type Json } from '../json.ts';
import { visible } from './visible.ts';

export function valueLines(value: Json): string[] {
  const inline = inlineOf(value);
  if (inline !== null) return [inline];
  if (typeof value === 'string') return value.split('\n').map((line) => barredText(line));
  if (Array.isArray(value)) return value.flatMap((item) => hanging('- ', valueLines(item)));
  if (!isJsonObject(value)) throw new Error('bug: a value that is none');
  return Object.entries(value).flatMap(([key, field]) => {
    const text = inlineOf(field);
    return text === null
      ? [`${keyText(key)}:`, ...valueLines(field).map((line) => `  ${line}`)]
      : [`${keyText(key)}: ${text}`];
  });
}

/** Null for what takes several lines. */
function inlineOf(value: Json): string | null {
  if (typeof value === 'string') return value.includes('\n') ? null : isPlain(value) ? value : barredText(value);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : null;
  if (isJsonObject(value)) return Object.keys(value).length === 0 ? '{}' : null;
  return String(value);
}

function hanging(mark: string, [first = '', ...rest]: readonly string[]): string[] {
  return [`${mark}${first}`, ...rest.map((line) => `  ${line}`)];
}

/** Neither a number nor a word of JSON, nor what looks like a key, an item or a bar. */
function isPlain(text: string): boolean {
  return (
    /^[^\s|[\]{}"'-](?:.*\S)?$/u.test(text) &&
    !/:(?:\s|$)/.test(text) &&
    !/^(?:null|true|false|[\d.+]+(?:e[\d+-]+)?)$/i.test(text) &&
    visible(text) === text
  );
}

const barredText = (text: string): string =>
  visible(text) === text ? `| ${text}` : `|" ${visible(JSON.stringify(text))}`;

const keyText = (key: string): string =>
  /^[\p{L}\p{N}_$./][\p{L}\p{N}_$./-]*$/u.test(key) ? key : visible(JSON.stringify(key));

const linesMax = 100;
const charactersMax = 10_000;
const linesBrief = 30;
const lineBrief = 300;

export interface ShownValue {
  lines: string[];
  /** How many lines there are. */
  total: number;
  isWhole: boolean;
}

/** What a list shows of a value: the whole, unless it is long; then how it begins. */
export function shownBriefly(value: Json): ShownValue {
  const lines = value === null ? [] : valueLines(value);
  const characters = lines.reduce((sum, line) => sum + line.length, 0);
  if (lines.length <= linesMax && characters <= charactersMax) return { lines, total: lines.length, isWhole: true };
  return {
    lines: lines.slice(0, linesBrief).map((line) => (line.length <= lineBrief ? line : `${line.slice(0, lineBrief)}…`)),
    total: lines.length,
    isWhole: false,
  };
}

/** The same, and where it is not the whole, that it is not. */
export function briefLines(value: Json): string[] {
  const { lines, total, isWhole } = shownBriefly(value);
  return isWhole ? lines : [...lines, `… not all of it${total > lines.length ? `: ${total} lines` : ''}`];
}
