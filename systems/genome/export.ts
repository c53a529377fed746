/** `genome/export`: a layer, or all that a persona uses, as a signed folder. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { canonicalText } from '../../language/canonical.ts';
import type { Context } from '../../operations/command.ts';
import { shortMark } from '../../operations/command.ts';
import { openIn, type OpenedFolder } from '../../operations/files/outside-folders.ts';
import { fileFailure } from '../../operations/files/whole-file.ts';
import { documentText, refuseSecrets } from '../../operations/signed-documents.ts';
import { Failure } from '../../world/failures/failures.ts';
import { type Copied, copied } from './copied.ts';
import {
  ADAPTER_FILES,
  ADAPTERS_FOLDER,
  DOCUMENT_FILE,
  GENOME,
  type GenomePayload,
  type TravellingLayer,
} from './document.ts';
import { noLayer, unknownLayer } from './failures.ts';
import { Places } from './places.ts';
import { foldersOf } from './settings.ts';
import { activeOf, layerNamed, type LayerRow, layersOf, readsBefore, type Scaled } from './store.ts';

export const ExportParams = z
  .strictObject({
    personaId: z.string().min(1).optional().describe('exports the layers that this persona uses, with their scales'),
    layer: z.string().min(1).optional().describe('exports this layer, by its name or its id'),
    outputPath: z.string().min(1).describe('the folder to write'),
  })
  .refine(
    ({ personaId, layer }) => (personaId === undefined) !== (layer === undefined),
    'say what to export: "personaId" or "layer"',
  );
type ExportParams = z.infer<typeof ExportParams>;

const Brief = z.strictObject({ id: z.string(), name: z.string(), domain: z.string() });

export const ExportResult = z.strictObject({
  path: z.string(),
  domain: z.string(),
  baseModel: z.string(),
  personaId: z.string().nullable(),
  layers: z.array(Brief),
});

export async function exportGenome(params: ExportParams, context: Context): Promise<z.infer<typeof ExportResult>> {
  const { rows, scales } = await chosen(params, context);
  const stated = { ...(await headOf(params, { rows, scales }, context)), layers: rows.map((row) => statedOf(row)) };
  const help = 'give what holds it another name, domain or claim';
  refuseSecrets(canonicalText(stated), params.outputPath, help, context);
  const folder = made(params.outputPath, context);
  try {
    const files = await filesOf(rows, params, context);
    const layers = stated.layers.map((layer, index) => ({ ...layer, files: files[index] as TravellingLayer['files'] }));
    const payload: GenomePayload = { ...stated, layers };
    const text = documentText(GENOME, payload);
    // Last: a folder without it is no export.
    const draft = join(folder.place, `.${DOCUMENT_FILE}.${shortMark(context)}.tmp`);
    await writeFile(draft, text, { mode: 0o600, flush: true });
    context.checkAttempt?.();
    await rename(draft, join(folder.place, DOCUMENT_FILE));
    return {
      path: folder.path,
      domain: [...new Set(rows.map(({ domain }) => domain))].join(', '),
      baseModel: payload.baseModel,
      personaId: payload.personaId,
      layers: layers.map(({ id, names: [name = id], domain }) => ({ id, name, domain })),
    };
  } catch (error) {
    throw fileFailure(error, params.outputPath);
  } finally {
    folder.close();
  }
}

interface Chosen {
  rows: LayerRow[];
  /** Null: a layer by itself. */
  scales: Scaled[] | null;
}

async function chosen({ personaId, layer }: ExportParams, context: Context): Promise<Chosen> {
  const read = readsBefore(context);
  if (layer !== undefined) {
    const found = await layerNamed(read, layer);
    if (found === null) throw unknownLayer(layer);
    return { rows: await registered([found.id], context), scales: null };
  }
  const active = await activeOf(read, personaId ?? '');
  if (active === null)
    throw new Failure('LAYER_UNKNOWN', `"${personaId}" uses no layers; "genome/set-active" says which it uses`);
  return {
    rows: await registered(
      active.layers.map((one) => one.layer),
      context,
    ),
    scales: active.layers,
  };
}

/** What has not passed its gate does not travel. */
async function registered(ids: readonly string[], context: Context): Promise<LayerRow[]> {
  const rows = await layersOf(readsBefore(context), ids);
  const missing = ids.find((id) => rows.every((row) => row.id !== id));
  if (missing !== undefined) throw noLayer(missing);
  return rows;
}

/** Made where it is not there. */
function made(path: string, context: Context): OpenedFolder {
  const folder = openIn(path, context, { create: true, folders: foldersOf(context) });
  if (folder === null) throw new Error('bug: a folder that was made is not there');
  return folder;
}

/** Of each in its order; they are in the folder by then, as they were copied. */
async function filesOf(
  rows: readonly LayerRow[],
  { outputPath }: ExportParams,
  context: Context,
): Promise<TravellingLayer['files'][]> {
  const adapters = made(join(outputPath, ADAPTERS_FOLDER), context);
  try {
    const files: TravellingLayer['files'][] = [];
    for (const { id } of rows) files.push(await copiedTo(adapters.place, id, context));
    return files;
  } finally {
    adapters.close();
  }
}

async function copiedTo(adapters: string, id: string, context: Context): Promise<TravellingLayer['files']> {
  const from = new Places(context.worker.training.folder()).adapter(id);
  if (!existsSync(from))
    throw new Failure('LAYER_UNKNOWN', `the files of the layer ${id} are not on this machine (${from})`);
  const draft = join(adapters, `.${id}.${shortMark(context)}.tmp`);
  const to = join(adapters, id);
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    const files: [string, Copied][] = [];
    for (const name of ADAPTER_FILES)
      files.push([name, await copied(join(from, name), join(draft, name), { signal: context.signal })]);
    context.checkAttempt?.();
    // One of an export before is the same, or somebody has changed it.
    await rm(to, { recursive: true, force: true });
    await rename(draft, to);
    return Object.fromEntries(files) as TravellingLayer['files'];
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function statedOf(row: LayerRow): Omit<TravellingLayer, 'files'> {
  const { id, name, tags, domain, dataset, match, manifest, verdict: gate, claimed } = row;
  return { id, names: tags.length === 0 ? [name] : tags, domain, dataset, match, manifest, gate, claimed };
}

async function headOf(
  { personaId, layer }: ExportParams,
  { rows, scales }: Chosen,
  context: Context,
): Promise<Omit<GenomePayload, 'layers'>> {
  const { store, run } = context;
  const [first] = rows;
  if (first === undefined) throw new Error('bug: an export without layers');
  return {
    exportedAt: new Date(context.now()).toISOString(),
    by: run.persona,
    installation: await store.installation(),
    personaId: layer === undefined ? (personaId ?? null) : null,
    baseModel: first.baseAsked,
    base: first.baseHash,
    composition: scales,
  };
}
