/**
 * What the platform's parser changes in silence: of keys that stand twice in one object it keeps the last, and
 * of a number that it does not hold it makes another. The text itself is looked at; it has been parsed, so it
 * is known to be JSON.
 */
import { changeOf, mayChange } from '../../numbers/decimal.ts';
import type { Problem } from '../../problems.ts';
import { pathTo, placesIn } from './place.ts';
import { placedAt } from './placed-problems.ts';

interface Open {
  path: string;
  isList: boolean;
  key: string;
  index: number;
  keys: Set<string>;
}

interface Part {
  type: 'key' | 'number';
  text: string;
  at: number;
  /** Of the key, or of what holds the number. */
  open: Open | undefined;
}

const PART = /[{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** More than these say nothing new. */
export const changesMax = 100;

/** Keys and numbers, in the order of the text. */
function* partsOf(text: string): Generator<Part> {
  const open: Open[] = [];
  let last = { at: 0, text: '' };
  for (const { 0: part, index } of text.matchAll(PART)) {
    const around = open.at(-1);
    if (part === '{' || part === '[')
      open.push({ path: pathIn(around), isList: part === '[', key: '', index: 0, keys: new Set() });
    else if (part === '}' || part === ']') open.pop();
    else if (part === ',' && around !== undefined) around.index += 1;
    else if (part === ':' && around?.isList === false) {
      around.key = JSON.parse(last.text) as string;
      yield { type: 'key', text: around.key, at: last.at, open: around };
    } else if (part.startsWith('"')) last = { at: index, text: part };
    else yield { type: 'number', text: part, at: index, open: around };
  }
}

const pathIn = (open: Open | undefined): string =>
  open === undefined ? '' : pathTo(open.path, open.isList ? open.index : open.key);

export function silentChanges(text: string): Problem[] {
  const problems: Problem[] = [];
  const place = placesIn(text);
  for (const part of partsOf(text)) {
    const problem =
      part.type === 'key' ? keyProblem(part) : numberProblem(part.text, () => pathIn(part.open), FRACTION);
    if (problem === null) continue;
    problems.push(placedAt({ ...problem, message: `${place(part.at)}: ${problem.message}` }, text, part.at));
    if (problems.length === changesMax) break;
  }
  return problems;
}

/** The first number whose size no number has, with its path. */
export function beyondSize(text: string): { path: string; written: string } | undefined {
  if (!mayChange(text)) return undefined;
  for (const { type, text: written, open } of partsOf(text))
    if (type === 'number' && isBeyondSize(written)) return { path: pathIn(open), written };
  return undefined;
}

const isBeyondSize = (written: string): boolean =>
  changeOf(written) === 'lost' && (!Number.isFinite(Number(written)) || Number(written) === 0);

function keyProblem({ text: key, open }: Part): Problem | null {
  const isTwice = open?.keys.has(key) === true;
  open?.keys.add(key);
  return isTwice ? keyTwice(key, pathIn(open)) : null;
}

export function keyTwice(key: string, path: string): Problem {
  return {
    code: 'DUPLICATE_KEY',
    severity: 'error',
    path,
    message: `"${key}" stands twice in this object, and only the last would count; keep one of them`,
    fix: `remove one "${key}"`,
  };
}

/** A fraction that somebody wrote: programs write whole numbers as `1.0`, and mean no text. */
const FRACTION = /\.\d+0$/;
/** No text that counts is written `.nan`. */
const DIGIT = /\d/;

/** Keys of what a step hands on, in which a number may be meant as a text. */
export const HANDED_ON: ReadonlySet<string> = new Set([
  'params',
  'inputs',
  'values',
  'data',
  'env',
  'args',
  'outputs',
  'default',
]);

/** What a number in a definition becomes that it does not say; `asText`: what is rather a text. Null where nothing does. */
export function numberProblem(written: string, pathOf: () => string, asText: RegExp): Problem | null {
  const change = changeOf(written);
  if (change === null && (!DIGIT.test(written) || !asText.test(written))) return null;
  const number = String(Number(written));
  const path = pathOf();
  const problem = { code: 'NUMBER_CHANGES', path, fix: `"${written}"` } as const;
  if (change === 'lost')
    return {
      ...problem,
      severity: 'error',
      message: `the number ${shown(written)} would become ${number}; put it in quotes, as a text it stays what it is`,
    };
  if (change === 'rounded')
    return {
      ...problem,
      severity: 'warning',
      message: `the number ${shown(written)} becomes ${number}; write that, or put it in quotes where each digit counts`,
    };
  if (number === written || !path.split('.').some((key) => HANDED_ON.has(key))) return null;
  return {
    ...problem,
    severity: 'warning',
    message: `the number ${written} becomes ${number}; put it in quotes where it is a text, such as a version`,
  };
}

const shown = (written: string): string => (written.length > shownMax ? `${written.slice(0, shownMax)}…` : written);
const shownMax = 60;
