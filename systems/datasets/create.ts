/** `ai/dataset/create`: rows into files of three parts, each row once, and the same row always into the same part. */
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { RecordFilter } from '../../language/params/record-filter.ts';
import { withoutTokens } from '../../language/secrets.ts';
import type { Masker } from '../../language/masking/masker.ts';
import { Failure } from '../../world/failures/failures.ts';
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import { fileFailure } from '../../operations/files/whole-file.ts';
import { shortMark, type Context } from '../../operations/command.ts';
import { openIn, type OpenedFolder } from '../../operations/files/outside-folders.ts';
import { foldersOf } from './settings.ts';
import { manifestIn, PARTS, type Manifest, type Part } from './manifest.ts';
import { factOf, formsOfRows, originOf, rowOf, shareOf, type Row } from './rows.ts';
import { AskedSamples, rowsFrom } from './sources.ts';

const rowsMax = 2_000_000;
/** Rows given in the parameters: more of them belong into a file or a collection. */
const givenRowsMax = 10_000;
/** Characters of the name. */
const nameMax = 100;

const Share = z.number().min(0).max(1);

export const CreateParams = z
  .strictObject({
    source: z.string().min(1).max(200).optional().describe('a collection of records'),
    filter: RecordFilter.optional().describe('of the records'),
    file: z.string().min(1).optional().describe('a file of the project: JSON, one row a line'),
    rows: z.array(z.record(z.string(), Value)).max(givenRowsMax).optional(),
    samples: AskedSamples.optional(),
    outputPath: z.string().min(1).default('datasets').describe('the folder that the data set is put into'),
    name: z
      .string()
      .max(nameMax)
      .regex(/^[A-Za-z0-9][\w.-]*$/, 'has letters, digits, ".", "_" and "-", and begins with a letter or digit')
      .optional(),
    groupBy: z.string().min(1).optional().describe('a field: rows with the same value of it go into the same part'),
    parts: z.strictObject({ validation: Share.default(0.1), gate: Share.default(0.1) }).prefault({}),
  })
  .refine(
    ({ source, file, rows, samples }) => [source, file, rows, samples].some((given) => given !== undefined),
    'say where the rows are: "source" (a collection), "file", "rows" or "samples"',
  )
  .refine(({ source, filter }) => filter === undefined || source !== undefined, '"filter" is of "source": give both')
  .refine(
    ({ parts }) => parts.validation + parts.gate < 1,
    '"parts" leave nothing to train on: "validation" and "gate" are less than 1 together',
  );
export type CreateParams = z.infer<typeof CreateParams>;

interface Written {
  stream: WriteStream;
  hash: Hash;
  rows: number;
  bytes: number;
}

export async function create(params: CreateParams, context: Context): Promise<Manifest & { path: string }> {
  const folder = openIn(params.outputPath, context, { create: true, folders: foldersOf(context) });
  if (folder === null) throw new Error('bug: a folder that was made is not there');
  const draft = join(folder.place, `.draft-${shortMark(context)}`);
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    const manifest = await written(params, context, draft);
    return await placed(manifest, { draft, folder });
  } catch (error) {
    throw fileFailure(error, params.outputPath);
  } finally {
    await rm(draft, { recursive: true, force: true });
    folder.close();
  }
}

/** What is there with the same content is the same data set: a step that is tried again makes it once. */
async function placed(
  manifest: Manifest,
  { draft, folder }: { draft: string; folder: OpenedFolder },
): Promise<Manifest & { path: string }> {
  const { name } = manifest;
  const path = join(folder.path, name);
  const before = await manifestIn(join(folder.place, name));
  if (before !== null) {
    if (before.hash === manifest.hash) return { ...before, path };
    throw new Failure(
      'DATASET_EXISTS',
      `there is another data set "${name}" in "${folder.path}"; give this one another "name", or leave the name out`,
    );
  }
  await writeFile(join(draft, 'dataset.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, join(folder.place, name));
  return { ...manifest, path };
}

async function written(params: CreateParams, context: Context, draft: string): Promise<Manifest> {
  const files = Object.fromEntries(PARTS.map((part) => [part, openPart(draft, part)])) as Record<Part, Written>;
  try {
    const { duplicates } = await writeRows(params, context, files);
    await Promise.all(PARTS.map((part) => ended(files[part])));
    return manifestOf(params, context, files, duplicates);
  } finally {
    for (const part of PARTS) files[part].stream.destroy();
  }
}

function openPart(draft: string, part: Part): Written {
  const stream = createWriteStream(join(draft, `${part}.jsonl`), { flags: 'wx', mode: 0o600 });
  // What goes wrong is told where it is waited for.
  stream.on('error', () => undefined);
  return { stream, hash: createHash('sha256'), rows: 0, bytes: 0 };
}

async function writeRows(
  params: CreateParams,
  context: Context,
  files: Record<Part, Written>,
): Promise<{ duplicates: number }> {
  const seen = new Set<string>();
  const maskers = [context.secrets?.results, context.secrets?.logs, ownMasker()].filter((one) => one !== undefined);
  let duplicates = 0;
  for await (const { place, value } of rowsFrom(params, context)) {
    context.signal.throwIfAborted();
    const row = checkedRow(value, place, { maskers, groupBy: params.groupBy });
    if (seen.has(row.id)) {
      duplicates += 1;
      continue;
    }
    seen.add(row.id);
    if (seen.size > rowsMax)
      throw new Failure(
        'DATASET_ROW_INVALID',
        `${place} is one more than the ${rowsMax} rows that a data set takes; make several`,
      );
    await append(files[partOf(row, params)], row);
    if (seen.size % 1_000 === 0) context.heartbeat({ rows: seen.size });
  }
  return { duplicates };
}

function checkedRow(
  value: Json,
  place: string,
  { maskers, groupBy }: { maskers: readonly Masker[]; groupBy: string | undefined },
): Row {
  const read = rowOf(value);
  if ('fault' in read) throw new Failure('DATASET_ROW_INVALID', `${place} ${read.fault}; a row is ${formsOfRows}`);
  const fact = factOf(value, groupBy);
  const groupedBy = fact === undefined || groupBy === 'fact' ? undefined : groupBy;
  const row: Row = { ...read.row, ...defined({ fact, groupedBy, origin: originOf(value) }) };
  const text = JSON.stringify(row);
  if (withoutTokens(text) !== text || maskers.some((masker) => masker.text(text) !== text))
    throw new Failure(
      'DATASET_SECRET',
      `${place} holds a secret, which a model that is trained on it may say to anybody; take it out of the row, or leave the row out`,
    );
  return row;
}

function partOf(row: Row, { parts }: CreateParams): Part {
  const share = shareOf(row);
  if (share < parts.gate) return 'gate';
  return share < parts.gate + parts.validation ? 'validation' : 'train';
}

async function append(file: Written, row: Row): Promise<void> {
  const line = `${JSON.stringify(row)}\n`;
  file.rows += 1;
  file.bytes += Buffer.byteLength(line);
  file.hash.update(line);
  if (!file.stream.write(line)) await once(file.stream, 'drain');
}

async function ended({ stream }: Written): Promise<void> {
  if (stream.errored !== null) throw stream.errored;
  stream.end();
  await once(stream, 'close');
}

function manifestOf(
  params: CreateParams,
  context: Context,
  files: Record<Part, Written>,
  duplicates: number,
): Manifest {
  const rows = PARTS.reduce((sum, part) => sum + files[part].rows, 0);
  const { source, file, rows: given, samples, name, groupBy, parts: shares } = params;
  const from = source ?? file ?? (samples === undefined ? 'rows' : 'samples');
  if (rows === 0)
    throw new Failure('DATASET_EMPTY', `there is no row in ${whereFrom(params)}; a data set has one at least`);
  if (files.train.rows === 0)
    throw new Failure(
      'DATASET_EMPTY',
      `none of ${rows} rows is left to train on: ${PARTS.map((part) => `${part} ${files[part].rows}`).join(', ')}; give more rows, or smaller "parts"`,
    );
  const parts = Object.fromEntries(
    PARTS.map((part) => {
      const { rows: count, bytes, hash } = files[part];
      return [part, { file: `${part}.jsonl`, rows: count, bytes, sha256: hash.digest('hex') }];
    }),
  ) as Manifest['parts'];
  const hash = createHash('sha256')
    .update(PARTS.map((part) => parts[part].sha256).join())
    .digest('hex');
  const title =
    name ??
    `${
      from
        .replaceAll(/[^A-Za-z0-9]+/g, '-')
        .replaceAll(/^-|-$/g, '')
        .slice(0, 60) || 'rows'
    }-${hash.slice(0, 12)}`;
  const made: JsonObject = {
    source: source ?? null,
    file: file ?? null,
    given: given?.length ?? 0,
    samples: samples === undefined ? null : defined({ ...samples }),
  };
  return {
    format: 1,
    name: title,
    hash,
    rows,
    duplicates,
    parts,
    shares,
    groupBy: groupBy ?? null,
    from: made,
    createdAt: context.now(),
    createdBy: context.run.persona,
  };
}

const whereFrom = ({ source, file, rows, samples }: CreateParams): string =>
  [
    ...(source === undefined ? [] : [`the collection "${source}"`]),
    ...(file === undefined ? [] : [`the file "${file}"`]),
    ...(rows === undefined ? [] : ['"rows"']),
    ...(samples === undefined ? [] : ['the conversations of the runs that "samples" names']),
  ].join(' and ');
