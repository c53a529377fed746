/** `genome/import`: what a signed folder holds becomes layers of this installation, and what a persona uses; as a whole or not at all. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { personaOfCaller } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { openIn } from '../../operations/files/outside-folders.ts';
import { readBounded } from '../../operations/files/whole-file.ts';
import { invalidExport, knownSigner } from '../../operations/signed-documents.ts';
import { Failure } from '../../world/failures/failures.ts';
import { type AtBase, requireBase } from './model-here.ts';
import { composed, ShownComposition, shownComposition } from './compose.ts';
import { copied } from './copied.ts';
import {
  ADAPTER_FILES,
  ADAPTERS_FOLDER,
  DOCUMENT_FILE,
  type GenomePayload,
  readGenome,
  type TravellingLayer,
} from './document.ts';
import { refusal } from './gate.ts';
import { layerName, LAYER_NAME_MAX } from './names.ts';
import { Places } from './places.ts';
import { foldersOf } from './settings.ts';
import {
  keepActive,
  keepAdapter,
  keepComposition,
  keepGate,
  keepLayer,
  gateOf,
  keepTag,
  layerNamed,
  layersOf,
  reads,
  readsBefore,
} from './store.ts';

export const ImportParams = z.strictObject({
  importPath: z.string().min(1).describe('the folder that "genome/export" has written'),
  personaId: z
    .string()
    .refine(isPersonaId, `must be the id of a persona: ${personaRule}`)
    .optional()
    .describe('uses them from its next turn on, with the scales that they had'),
  baseModel: z
    .string()
    .min(1)
    .optional()
    .describe('the model that they were made for, as steps name it here; else as it was named where they were made'),
});
type ImportParams = z.infer<typeof ImportParams>;

const Imported = z.strictObject({
  id: z.string(),
  name: z.string(),
  domain: z.string(),
  isNew: z.boolean().describe('false: it was a layer here already'),
});

export const ImportResult = z.strictObject({
  layers: z.array(Imported),
  domain: z.string(),
  baseModel: z.string(),
  signer: z.strictObject({ fingerprint: z.string(), name: z.string() }),
  exportedBy: z.string(),
  personaId: z.string().nullable(),
  composition: ShownComposition.nullable(),
});
type Result = z.infer<typeof ImportResult>;

export async function importGenome(params: ImportParams, context: Context): Promise<Result> {
  const { importPath, personaId = null } = params;
  const folder = openIn(importPath, context, { create: false, folders: foldersOf(context) });
  if (folder === null) throw notThere(importPath);
  try {
    const place = `"${importPath}"`;
    const file = join(folder.path, DOCUMENT_FILE);
    if (!existsSync(file)) throw notThere(importPath);
    const { payload, signer } = readGenome((await readBounded(file, importPath)).toString('utf8'), place);
    const known = knownSigner(signer, place);
    const base = await requireBase(params.baseModel ?? payload.baseModel, payload, context);
    const before = new Set((await layersOf(readsBefore(context), idsOf(payload))).map(({ id }) => id));
    const fresh = payload.layers.filter(({ id }) => !before.has(id));
    for (const { id } of fresh) await refuseFailed(id, context);
    await placed(payload.layers, params, context);
    const origin = { fingerprint: known.fingerprint, ...originOf(payload) };
    const layers: Result['layers'] = [];
    for (const layer of payload.layers) {
      const isNew = !before.has(layer.id);
      if (isNew) await registered(layer, { base, origin }, context);
      layers.push({ id: layer.id, name: await called(layer, context), domain: layer.domain, isNew });
    }
    const composition = personaId === null ? null : await activated(payload, personaId, context);
    return {
      layers,
      domain: [...new Set(layers.map(({ domain }) => domain))].join(', '),
      baseModel: base.asked,
      signer: known,
      exportedBy: payload.by,
      personaId,
      composition,
    };
  } finally {
    folder.close();
  }
}

const notThere = (path: string): Failure =>
  new Failure(
    'FILE_NOT_FOUND',
    `there are no exported layers in "${path}"; name the folder that "genome/export" wrote`,
  );

const idsOf = ({ layers }: GenomePayload): string[] => layers.map(({ id }) => id);

const originOf = ({ installation, by: exportedBy, exportedAt, personaId }: GenomePayload) => ({
  installation,
  exportedBy,
  exportedAt,
  personaId,
});

/** What is known here of exactly this adapter counts, whoever else has found something else. */
async function refuseFailed(id: string, context: Context): Promise<void> {
  const own = await gateOf(readsBefore(context), id);
  if (own !== null && !own.passed) throw refusal(own.reasons, own);
}

/** Their files lie under their ids by then, each as the signature says. */
async function placed(
  layers: readonly TravellingLayer[],
  { importPath }: ImportParams,
  context: Context,
): Promise<void> {
  const byId = new Map(layers.map((layer) => [layer.id, layer]));
  const places = new Places(context.worker.training.folder());
  await places.placeAdapters([...byId.keys()], async (id, draft) => {
    const layer = byId.get(id);
    if (layer !== undefined) await filled(layer, { importPath, draft }, context);
  });
}

async function filled(
  { id, files }: TravellingLayer,
  { importPath, draft }: { importPath: string; draft: string },
  context: Context,
): Promise<void> {
  const place = `"${importPath}"`;
  const path = join(importPath, ADAPTERS_FOLDER, id);
  const from = openIn(path, context, { create: false, folders: foldersOf(context) });
  if (from === null) throw invalidExport(place, `lacks the files of the layer ${id}`);
  try {
    for (const name of ADAPTER_FILES) {
      const { sha256, bytes } = files[name];
      if (lstatSync(join(from.place, name), { throwIfNoEntry: false }) === undefined)
        throw invalidExport(place, `lacks ${name} of the layer ${id}`);
      const check = (found: number): void => {
        if (found !== bytes)
          throw invalidExport(place, `has ${found} bytes as ${name} of the layer ${id}, and ${bytes} were signed`);
      };
      const { signal } = context;
      const found = await copied(join(from.place, name), join(draft, name), {
        signal,
        called: join(path, name),
        check,
      });
      if (found.sha256 !== sha256)
        throw invalidExport(place, `has another ${name} of the layer ${id} than the one that was signed`);
    }
  } finally {
    from.close();
  }
}

/** With the record of its gate, which whoever is trusted to have made it has signed. */
async function registered(
  { id, names: [name = id], domain, dataset, match, manifest, gate, claimed }: TravellingLayer,
  { base, origin }: { base: AtBase; origin: { [key: string]: string | null } },
  context: Context,
): Promise<void> {
  await keepAdapter(context, {
    id,
    name,
    baseAsked: base.asked,
    basePath: base.path,
    baseHash: base.hash,
    manifest,
    dataset,
    // The questions of its gate stay where it was made.
    heldOut: null,
    match,
  });
  await keepGate(context, id, gate);
  await keepLayer(context, { id, domain, claimed, origin });
}

const markChars = 8;

/** By all its names; the first of them. */
async function called({ id, names }: TravellingLayer, context: Context): Promise<string> {
  const given: string[] = [];
  for (const name of names) given.push(await tagged(layerName(name), id, context));
  return given[0] ?? id;
}

/** Where the name means another layer or adapter here, with a mark of its own behind it. */
async function tagged(name: string, id: string, context: Context): Promise<string> {
  const read = reads(context);
  for (const wanted of [
    name,
    layerName(`${name.slice(0, LAYER_NAME_MAX - markChars - 1)}-${id.slice(0, markChars)}`),
  ]) {
    const current = await layerNamed(read, wanted);
    if (current === null) await keepTag(context, wanted, id);
    if (current === null || current.id === id) return wanted;
  }
  return id;
}

/** Without a composition each layer has an equal part, as wherever layers are named without weights. */
async function activated(
  { composition, layers }: GenomePayload,
  personaId: string,
  context: Context,
): Promise<Result['composition']> {
  const made = await composed(composition ?? layers.map(({ id }) => id), context);
  await keepComposition(context, made);
  await keepActive(context, personaId, made.id, personaOfCaller(context));
  return shownComposition(made);
}
