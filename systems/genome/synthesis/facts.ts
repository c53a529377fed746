/** Questions with their answers, from a list, a file of rows or a data set: what a teacher words anew, and what a gate asks. */
import { basename, dirname, join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import type { Context } from '../../../operations/command.ts';
import { readBounded, readWhole } from '../../../operations/files/whole-file.ts';
import { Failure } from '../../../world/failures/failures.ts';

const PAIRS = [
  ['input', 'correction'],
  ['input', 'expectedOutput'],
  ['input', 'expected'],
  ['input', 'output'],
  ['prompt', 'completion'],
  ['question', 'answer'],
] as const;

export interface Fact {
  question: string;
  answer: string;
  /** What it is about: rows of one fact stay in one part of a data set. */
  fact: string;
}

type Part = 'train' | 'gate';

interface Archive {
  name: string;
  path: string;
  parts: { [part in Part]: { file: string; rows: number } };
}

/** Of a data set the rows of this part alone: nobody who makes rows reads its gate. */
export async function factsIn(given: string | readonly JsonObject[], part: Part, context: Context): Promise<Fact[]> {
  if (typeof given !== 'string') return given.map((row, at) => factOf(row, `row ${at + 1} of "facts"`));
  return given.endsWith('.jsonl') ? factsOf(await readWhole(given, context), given) : factsOfSet(given, part, context);
}

async function factsOfSet(given: string, part: Part, context: Context): Promise<Fact[]> {
  const path = dirname(given.replace(/\/+$/, ''));
  const { archives } = (await context.call('ai/dataset/list', { path })) as unknown as { archives: Archive[] };
  const found = archives.find(({ name }) => name === basename(given));
  if (found === undefined)
    throw unusable(
      `there is no data set "${given}"; name one that "ai/dataset/create" has made, or a file that ends in .jsonl`,
    );
  const { file, rows } = found.parts[part];
  return rows === 0 ? [] : factsOfFile(join(found.path, file), join(given, file));
}

export const factsOfFile = async (file: string, called: string): Promise<Fact[]> =>
  factsOf(await readBounded(file, called), called);

const factsOf = (bytes: Buffer, called: string): Fact[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [factOf(jsonIn(line), `row ${at + 1} of "${called}"`)]));

function jsonIn(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return null;
  }
}

function factOf(row: Json, place: string): Fact {
  const said = isJsonObject(row) ? (saidIn(row) ?? pairIn(row)) : null;
  if (said === null || !isJsonObject(row))
    throw unusable(`${place} has no question with an answer; docs/datasets.md lists the forms of a row`);
  const { fact } = row;
  return { ...said, fact: fact === undefined || fact === null ? normal(said.question) : textOf(fact) };
}

type Said = Pick<Fact, 'question' | 'answer'>;

function pairIn(row: JsonObject): Said | null {
  const pair = PAIRS.find(([asked, answered]) => isSaid(row[asked]) && isSaid(row[answered]));
  if (pair === undefined) return null;
  const [asked, answered] = pair;
  return { question: textOf(row[asked] ?? ''), answer: textOf(row[answered] ?? '') };
}

/** A conversation of one question. */
function saidIn({ messages }: JsonObject): Said | null {
  if (!Array.isArray(messages)) return null;
  const said = (role: string): string[] =>
    messages.flatMap((one) =>
      isJsonObject(one) && one['role'] === role && typeof one['content'] === 'string' ? [one['content']] : [],
    );
  const [[question, ...more], [answer]] = [said('user'), said('assistant')];
  return question === undefined || answer === undefined || more.length > 0 ? null : { question, answer };
}

const isSaid = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== '';
const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

const MARKS_AT_END = new Set(' .!?,;:。');

/** The same for texts that differ in case, white space, marks at their end or the form of their characters. */
export function normal(text: string): string {
  const said = text.normalize('NFKC').toLowerCase().split(/\s+/).join(' ').trim();
  let end = said.length;
  while (MARKS_AT_END.has(said[end - 1] ?? '')) end -= 1;
  return said.slice(0, end);
}

/** The same for texts that differ in any marks, too: "6/3" and "6*3" are one. Rather too much is kept out than too little. */
export const loose = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{S}]+/gu, ' ')
    .trim();

export const unusable = (finding: string): Failure => new Failure('SYNTHESIS_FACTS_INVALID', finding);
