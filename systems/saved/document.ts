/**
 * A saved sentinel as a file that travels: canonical JSON, signed. Whoever reads it checks, in this order, that it is
 * whole (the text is exactly the canonical one), of a version that is known, signed, and that each definition is the one
 * that its id says.
 */
import * as z from 'zod';
import { canonicalText } from '../../language/canonical.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import { EXPORT_FORMAT } from '../../language/read/text/definition-text.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { signed, type Signer, signerOf } from '../../operations/signatures.ts';
import { Failure } from '../../world/failures/failures.ts';

const FORMAT_VERSION = 1;

const Program = z.custom<Definition>(isJsonObject, 'must be a definition');
const Value = z.custom<Json>((value) => value !== undefined);

const Version = z.strictObject({ version: z.number(), id: z.string(), savedAt: z.string(), definition: Program });

export const RunRow = z.strictObject({
  handle: z.string(),
  id: z.string(),
  persona: z.string(),
  status: z.string(),
  outcome: z.string().nullable(),
  failure: z.string().nullable(),
  iterations: z.number(),
  startedAt: z.string(),
  durationMs: z.number().nullable(),
});
export type RunRow = z.infer<typeof RunRow>;

export interface Payload {
  exportedAt: string;
  by: string;
  installation: string;
  name: string;
  owner: string;
  parentPersonaId: string | null;
  tags: string[];
  isPublic: boolean;
  origin: Json;
  statistics: {
    runCount: number;
    successRate: number | null;
    averageDurationMs: number | null;
    lastRunAt: string | null;
  };
  current: string;
  versions: { version: number; id: string; savedAt: string; definition: Definition }[];
  library: { name: string; id: string; definition: Definition }[];
  commands: string[];
  history: RunRow[] | null;
}

const Payload: z.ZodType<Payload> = z.strictObject({
  exportedAt: z.string(),
  /** Who exports it. */
  by: z.string(),
  installation: z.string(),
  name: z.string().min(1),
  owner: z.string(),
  parentPersonaId: z.string().nullable(),
  tags: z.array(z.string()),
  isPublic: z.boolean(),
  /** Where it came from before. */
  origin: Value,
  statistics: z.strictObject({
    runCount: z.number(),
    successRate: z.number().nullable(),
    averageDurationMs: z.number().nullable(),
    lastRunAt: z.string().nullable(),
  }),
  /** The id of the version that the name finds. */
  current: z.string(),
  /** The newest first. */
  versions: z.array(Version).min(1),
  /** What its definitions name by their names. */
  library: z.array(z.strictObject({ name: z.string(), id: z.string(), definition: Program })),
  /** That its definitions name. */
  commands: z.array(z.string()),
  /** Of its runs; null where it was not asked for. */
  history: z.array(RunRow).nullable(),
});

const Document = z.strictObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(FORMAT_VERSION),
  payload: Payload,
  signature: z.strictObject({ key: z.string(), value: z.string() }),
});

export interface ReadDocument {
  payload: Payload;
  signer: Signer;
}

export function documentText(payload: Payload): string {
  const signature = signed(canonicalText(payload));
  return `${canonicalText({ format: EXPORT_FORMAT, version: FORMAT_VERSION, payload, signature })}\n`;
}

/** `place`: of the text, for failures. Throws `EXPORT_INVALID` and `EXPORT_VERSION`. */
export function readDocument(text: string, place: string): ReadDocument {
  const refused = (finding: string): Failure => new Failure('EXPORT_INVALID', `${place} ${finding}`);
  const value = parsed(text);
  if (value === null || value['format'] !== EXPORT_FORMAT)
    throw refused('is no export of a sentinel, or not a whole one');
  if (value['version'] !== FORMAT_VERSION)
    throw new Failure(
      'EXPORT_VERSION',
      `${place} is of version ${JSON.stringify(value['version'])} of the format, and this Sentinel reads version ${FORMAT_VERSION}; export it again with the same version of Sentinel`,
    );
  if (`${canonicalText(value)}\n` !== text) throw refused('was changed since it was exported');
  const read = Document.safeParse(value);
  if (!read.success) throw refused(`holds something else than an export does: ${z.prettifyError(read.error)}`);
  const { payload, signature } = read.data;
  const signer = signerOf(canonicalText(payload), signature);
  if (signer === null) throw refused('was changed since it was signed');
  const { versions, library, name, current } = payload;
  const isWhole =
    [...versions, ...library].every(({ id, definition }) => contentHash(definition) === id) &&
    versions.every(({ definition }) => definition.name === name) &&
    library.every((one) => one.name === one.definition.name) &&
    new Set([name, ...library.map((one) => one.name)]).size === library.length + 1 &&
    versions.some(({ id }) => id === current);
  if (!isWhole) throw refused('names definitions that are not in it');
  return { payload, signer };
}

function parsed(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
