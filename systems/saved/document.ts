/** A saved sentinel as a signed file that travels; whoever reads it checks that each definition is the one that its id says. */
import * as z from 'zod';
import { isJsonObject, type Json } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import { EXPORT_FORMAT } from '../../language/read/text/definition-text.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import {
  type DocumentKind,
  documentText,
  invalidExport,
  readDocument,
  type ReadDocument,
} from '../../operations/signed-documents.ts';

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

const KIND: DocumentKind<Payload> = {
  format: EXPORT_FORMAT,
  version: 1,
  title: 'export of a sentinel',
  payload: Payload,
};

export const exportText = (payload: Payload): string => documentText(KIND, payload);

/** `place`: of the text, for failures. Throws `EXPORT_INVALID` and `EXPORT_VERSION`. */
export function readExport(text: string, place: string): ReadDocument<Payload> {
  const read = readDocument(KIND, text, place);
  const { versions, library, name, current } = read.payload;
  const isWhole =
    [...versions, ...library].every(({ id, definition }) => contentHash(definition) === id) &&
    versions.every(({ definition }) => definition.name === name) &&
    library.every((one) => one.name === one.definition.name) &&
    new Set([name, ...library.map((one) => one.name)]).size === library.length + 1 &&
    versions.some(({ id }) => id === current);
  if (!isWhole) throw invalidExport(place, 'names definitions that are not in it');
  return read;
}
