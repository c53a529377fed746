/**
 * What a case expects against what it got. Only what is named is compared: an expected object may
 * name some of the fields, at any depth; a list has as many items; anything else is equal.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Problem } from '../../language/problems.ts';
import type { Outcome } from '../../interpreter/simulation/run-scenario.ts';
import type { Expectation } from './test-file.ts';

/** One part of an expectation that does not hold; `actual` is cut down to what was expected. */
export interface Difference {
  part: keyof Expectation;
  expected: Json;
  actual: Json;
}

/** A run that ended, as far as it is compared. */
type Ended = Omit<Outcome, 'runs'>;

type Parts = Omit<Expectation, 'either' | 'problems'>;

/** In a trace, any number of lines. */
const ANY_LINES = new Set(['…', '...']);

export function compareRun(expect: Expectation, outcome: Ended): Difference[] {
  const { either, problems: _problems, ...named } = expect;
  const differences = compareParts({ outcome: defaultOutcome(expect), ...named }, outcome);
  if (either === undefined || wayTaken(expect, outcome) !== null) return differences;
  const [nearest = []] = either.map((way) => compareParts(way, outcome)).toSorted((a, b) => a.length - b.length);
  return [...differences, ...nearest];
}

/** Which of the runs that a case leaves open this is; null for none of them. */
export function wayTaken({ either = [] }: Expectation, outcome: Ended): number | null {
  const index = either.findIndex((way) => compareParts(way, outcome).length === 0);
  return index === -1 ? null : index;
}

function compareParts({ trace: lines, ...wanted }: Parts, { trace, effects, result }: Ended): Difference[] {
  const got: JsonObject = { ...(result as unknown as JsonObject), effects };
  const differences = Object.entries(wanted as JsonObject).flatMap(([part, value]): Difference[] => {
    if (value === undefined) return [];
    const actual = part === 'failure' ? failureOf(got[part], value) : cutDown(got[part] ?? null, value);
    return isDeepStrictEqual(actual, value) ? [] : [{ part: part as keyof Expectation, expected: value, actual }];
  });
  if (lines === undefined || traceFits(lines, trace)) return differences;
  return [...differences, { part: 'trace', expected: lines, actual: trace }];
}

/** A case that says nothing of how the run ends expects it to complete. */
function defaultOutcome({ outcome, status, failure, limit }: Expectation): Expectation['outcome'] | undefined {
  if (outcome !== undefined) return outcome;
  if (status !== undefined) return undefined;
  return failure !== undefined ? 'failed' : limit !== undefined ? 'stopped' : 'completed';
}

/** The part of `actual` that `expected` speaks of. */
export function cutDown(actual: Json, expected: Json): Json {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item, index) => (index < expected.length ? cutDown(item, expected[index] ?? null) : item));
  }
  if (!isJsonObject(actual) || !isJsonObject(expected)) return actual;
  const names = Object.keys(expected).filter((name) => Object.hasOwn(actual, name));
  return Object.fromEntries(names.map((name) => [name, cutDown(actual[name] ?? null, expected[name] ?? null)]));
}

/** The expected message is a part of the actual one. */
function failureOf(actual: Json | undefined, expected: Json): Json {
  const cut = cutDown(actual ?? null, expected);
  if (!isJsonObject(cut) || !isJsonObject(expected)) return cut;
  const { message } = expected;
  return typeof message === 'string' && typeof cut['message'] === 'string' && cut['message'].includes(message)
    ? { ...cut, message }
    : cut;
}

function traceFits(expected: readonly string[], actual: readonly string[]): boolean {
  const [head = [], ...pieces] = piecesOf(expected);
  if (pieces.length === 0) return isDeepStrictEqual(head, actual);
  const tail = pieces.pop() ?? [];
  let at = head.length;
  if (!standsAt(head, actual, 0)) return false;
  for (const piece of pieces) {
    while (at <= actual.length && !standsAt(piece, actual, at)) at += 1;
    at += piece.length;
  }
  return at <= actual.length - tail.length && standsAt(tail, actual, actual.length - tail.length);
}

/** The lines between those that stand for any number. */
function piecesOf(lines: readonly string[]): string[][] {
  const pieces: string[][] = [[]];
  for (const line of lines) {
    if (ANY_LINES.has(line)) pieces.push([]);
    else pieces.at(-1)?.push(line);
  }
  return pieces;
}

function standsAt(piece: readonly string[], lines: readonly string[], at: number): boolean {
  return at + piece.length <= lines.length && piece.every((line, index) => line === lines[at + index]);
}

/** Each expected problem is a code, or the fields of one; no other error may be there. */
export function compareProblems(
  expected: NonNullable<Expectation['problems']>,
  problems: readonly Problem[],
): Difference[] {
  const left = [...problems];
  const wanted = expected.map((entry): JsonObject => (typeof entry === 'string' ? { code: entry } : entry));
  const missing = wanted.filter((entry) => {
    const index = left.findIndex((problem) => isDeepStrictEqual(cutDown(problem as unknown as Json, entry), entry));
    if (index === -1) return true;
    left.splice(index, 1);
    return false;
  });
  const surplus = left.filter(({ severity }) => severity === 'error');
  if (missing.length === 0 && surplus.length === 0) return [];
  return [{ part: 'problems', expected: wanted, actual: problems.map(({ code, path }) => ({ code, path })) }];
}
