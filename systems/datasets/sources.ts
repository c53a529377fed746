/** Where the rows of a data set come from, one after the other: no more than a page or a line of them is held. */
import { createReadStream } from 'node:fs';
import * as z from 'zod';
import type { Json, JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { accessOf, resolveInside } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { fileFailure } from '../../operations/files/whole-file.ts';
import type { Context } from '../../operations/command.ts';
import { RUN_OUTCOMES, samplesOf, STEP_OUTCOMES } from '../../operations/samples/samples.ts';

/** Of one row, as JSON. */
export const rowBytesMax = 1024 * 1024;
const pageRows = 500;

export interface Given {
  source?: string | undefined;
  filter?: JsonObject | undefined;
  file?: string | undefined;
  rows?: JsonObject[] | undefined;
  samples?: AskedSamples | undefined;
}

export interface SourceRow {
  /** For people: "row 7 of the collection "a"". */
  place: string;
  value: Json;
}

export async function* rowsFrom(
  { source, filter, file, rows = [], samples }: Given,
  context: Context,
): AsyncGenerator<SourceRow> {
  for (const [at, value] of rows.entries()) yield { place: `row ${at + 1} of "rows"`, value };
  if (source !== undefined) yield* recordsOf(source, filter, context);
  if (file !== undefined) yield* linesOf(file, context);
  if (samples !== undefined) yield* samplesIn(samples, context);
}

export const AskedSamples = z
  .strictObject({
    handles: z
      .array(z.string().min(1))
      .min(1)
      .max(1_000)
      .optional()
      .describe('of these runs and the runs nested in them'),
    name: z.string().min(1).optional().describe('of runs of the definition with this name'),
    outcomes: z.array(z.enum(RUN_OUTCOMES)).min(1).default(['completed']).describe('of runs that ended so'),
    stepOutcomes: z.array(z.enum(STEP_OUTCOMES)).min(1).default(['ok']).describe('of steps that ended so'),
    since: z.iso.datetime({ offset: true }).optional().describe('of runs that started since then'),
  })
  .describe('conversations of runs of the project with models');
export type AskedSamples = z.output<typeof AskedSamples>;

/** Conversations of others' projects are theirs to train on. */
async function* samplesIn({ since, ...asked }: AskedSamples, context: Context): AsyncGenerator<SourceRow> {
  const query = { ...defined({ ...asked, since: since === undefined ? undefined : Date.parse(since) }) };
  let number = 0;
  for await (const sample of samplesOf(context.store, { ...query, project: context.run.project })) {
    number += 1;
    const { handle, key } = sample.metadata;
    yield { place: `sample ${number} (${key} of the run ${handle})`, value: sample as unknown as Json };
  }
}

interface Page {
  records: JsonObject[];
  cursor: string;
  more: boolean;
}

async function* recordsOf(
  collection: string,
  filter: JsonObject | undefined,
  context: Context,
): AsyncGenerator<SourceRow> {
  let number = 0;
  for (let [cursor, more] = ['', true]; more;) {
    const asked = { collection, limit: pageRows, cursor, ...defined({ filter }) };
    const page = (await context.call('data/list', asked)) as unknown as Page;
    for (const value of page.records)
      yield {
        place: `row ${(number += 1)} of the collection "${collection}" (record ${JSON.stringify(value['id'])})`,
        value,
      };
    ({ cursor, more } = page);
  }
}

/** JSON, one a line. */
async function* linesOf(path: string, context: Context): AsyncGenerator<SourceRow> {
  const file = resolveInside(context.run.project, path, accessOf(context));
  let number = 0;
  try {
    for await (const bytes of splitLines(createReadStream(file, { signal: context.signal }), path)) {
      number += 1;
      const text = textIn(bytes, path, number).trim();
      if (text !== '') yield { place: `row ${number} of "${path}"`, value: jsonIn(text, path, number) };
    }
  } catch (error) {
    throw fileFailure(error, path);
  }
}

/** A line is held to its bound while it is read: a file without line ends is no reason to hold it whole. */
async function* splitLines(chunks: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let [length, number] = [0, 1];
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      refuseLong(length + to - from, path, number);
      yield Buffer.concat([...parts, chunk.subarray(from, to)]);
      [parts, length, from, number] = [[], 0, to + 1, number + 1];
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    refuseLong(length, path, number);
  }
  if (length > 0) yield Buffer.concat(parts);
}

function refuseLong(length: number, path: string, number: number): void {
  if (length <= rowBytesMax) return;
  throw new Failure(
    'DATASET_ROW_INVALID',
    `row ${number} of "${path}" has more than ${rowBytesMax} bytes; the file is JSON with one row a line: split it, or leave the row out`,
  );
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function textIn(bytes: Buffer, path: string, number: number): string {
  try {
    // A mark of the byte order at the start of a file is none of its text.
    return decoder.decode(bytes);
  } catch {
    throw new Failure(
      'DATASET_ROW_INVALID',
      `row ${number} of "${path}" is no text in UTF-8; a data set is made from JSON with one row a line`,
    );
  }
}

function jsonIn(text: string, path: string, number: number): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Failure(
      'DATASET_ROW_INVALID',
      `row ${number} of "${path}" is no JSON: ${error instanceof Error ? error.message : String(error)}; the file is JSON with one row a line`,
    );
  }
}
