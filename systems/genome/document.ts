/**
 * Layers that travel, as a folder: `genome.json` is signed and says what each layer is, how it has passed its gate and
 * what its files are by their hashes and sizes; `adapters/ID/` has these. Nothing of the data that it was trained on travels.
 */
import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import {
  type DocumentKind,
  invalidExport,
  readDocument,
  type ReadDocument,
} from '../../operations/signed-documents.ts';
import { LAYERS_MAX, Weight } from './compose.ts';
import type { Copied } from './copied.ts';
import { ShownVerdict } from './register.ts';
import { hasPassed, type Verdict } from './verdict.ts';

export const DOCUMENT_FILE = 'genome.json';
export const ADAPTERS_FOLDER = 'adapters';

/** That an adapter has: the third and the fourth are what is used of it. */
export const ADAPTER_FILES = [
  'manifest.json',
  'adapter_config.json',
  'adapter_model.safetensors',
  'adapter.gguf',
] as const;
type AdapterFile = (typeof ADAPTER_FILES)[number];

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Value = z.custom<Json>((value) => value !== undefined);

export interface TravellingLayer {
  id: string;
  /** Its names, the one of its training first where it has none. */
  names: string[];
  domain: string;
  dataset: string;
  match: 'exact' | 'contains';
  manifest: JsonObject;
  gate: Verdict;
  claimed: Json;
  files: { [name in AdapterFile]: Copied };
}

export interface GenomePayload {
  exportedAt: string;
  /** Who exports it. */
  by: string;
  installation: string;
  /** Whose genome it is; null: layers alone. */
  personaId: string | null;
  /** As steps have named the model, where it was trained. */
  baseModel: string;
  /** The hash of the model's content. */
  base: string;
  layers: TravellingLayer[];
  composition: { layer: string; scale: number }[] | null;
}

const Layer: z.ZodType<TravellingLayer> = z.strictObject({
  id: Hash,
  names: z.array(z.string().min(1)).min(1),
  domain: z.string(),
  dataset: z.string(),
  match: z.enum(['exact', 'contains']),
  manifest: z.custom<JsonObject>(isJsonObject, 'must be a manifest'),
  gate: ShownVerdict,
  claimed: Value,
  files: z.record(z.enum(ADAPTER_FILES), z.strictObject({ sha256: Hash, bytes: z.number().int().min(0) })),
});

export const GENOME: DocumentKind<GenomePayload> = {
  format: 'sentinel-genome',
  version: 1,
  title: 'export of layers',
  payload: z.strictObject({
    exportedAt: z.string(),
    by: z.string(),
    installation: z.string(),
    personaId: z.string().nullable(),
    baseModel: z.string().min(1),
    base: Hash,
    layers: z.array(Layer).min(1).max(LAYERS_MAX),
    composition: z
      .array(z.strictObject({ layer: Hash, scale: Weight }))
      .min(1)
      .max(LAYERS_MAX)
      .nullable(),
  }),
};

/** What a manifest states of the adapter that it lies beside. */
const Stated = z.object({ id: Hash, sha256: Hash, base: z.object({ hash: Hash }) });

/** `place`: of the text, for failures. Throws `EXPORT_INVALID` and `EXPORT_VERSION`. */
export function readGenome(text: string, place: string): ReadDocument<GenomePayload> {
  const read = readDocument(GENOME, text, place);
  const { layers, composition, base } = read.payload;
  for (const layer of layers) {
    const stated = Stated.safeParse(layer.manifest);
    const isOf =
      stated.success &&
      stated.data.id === layer.id &&
      stated.data.base.hash === base &&
      stated.data.sha256 === layer.files['adapter_model.safetensors'].sha256;
    if (!isOf) throw invalidExport(place, `has a layer ${layer.id} that is not the one of its manifest`);
    if (!hasPassed(layer.gate)) throw invalidExport(place, `has an adapter ${layer.id} that has not passed its gate`);
  }
  const known = new Set(layers.map(({ id }) => id));
  if (known.size < layers.length || composition?.some(({ layer }) => !known.has(layer)) === true)
    throw invalidExport(place, 'names layers that are not in it');
  return read;
}
