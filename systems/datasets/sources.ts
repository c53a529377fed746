/** Where the rows of a data set come from, one after the other: no more than a page or a line of them is held. */
import { createReadStream } from 'node:fs';
import type { Json, JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { accessOf, resolveInside } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { fileFailure } from '../../operations/files/whole-file.ts';
import type { Context } from '../../operations/command.ts';

/** Of one row, as JSON. */
export const rowBytesMax = 1024 * 1024;
const pageRows = 500;

export interface Given {
  source?: string | undefined;
  filter?: JsonObject | undefined;
  file?: string | undefined;
  rows?: JsonObject[] | undefined;
}

export interface SourceRow {
  /** For people: "row 7 of the collection "a"". */
  place: string;
  value: Json;
}

export async function* rowsFrom(
  { source, filter, file, rows = [] }: Given,
  context: Context,
): AsyncGenerator<SourceRow> {
  for (const [at, value] of rows.entries()) yield { place: `row ${at + 1} of "rows"`, value };
  if (source !== undefined) yield* recordsOf(source, filter, context);
  if (file !== undefined) yield* linesOf(file, context);
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
