/** What a data set says of itself, in `dataset.json` beside its parts. */
import { open } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { Value } from '../../language/model.ts';

export const PARTS = ['train', 'validation', 'gate'] as const;
export type Part = (typeof PARTS)[number];

const manifestBytesMax = 64 * 1024;

const Count = z.number().int().nonnegative();
const File = z.strictObject({ file: z.string(), rows: Count, bytes: Count, sha256: z.string() });

export const Manifest = z.strictObject({
  format: z.literal(1),
  name: z.string(),
  /** Of all rows. */
  hash: z.string(),
  rows: Count,
  /** Rows that were given more than once, and are in it once. */
  duplicates: Count,
  parts: z.strictObject({ train: File, validation: File, gate: File }),
  shares: z.strictObject({ validation: z.number(), gate: z.number() }),
  groupBy: z.string().nullable(),
  from: z.record(z.string(), Value),
  createdAt: z.number(),
  createdBy: z.string(),
});
export type Manifest = z.infer<typeof Manifest>;

/** Null where there is none, or none that can be read. */
export async function manifestIn(folder: string): Promise<Manifest | null> {
  const file = await open(
    join(folder, 'dataset.json'),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch(() => null);
  if (file === null) return null;
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > manifestBytesMax) return null;
    const read = Manifest.safeParse(JSON.parse(await file.readFile('utf8')));
    return read.success ? read.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await file.close();
  }
}
