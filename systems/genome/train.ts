/** `genome/train`: an adapter from a data set, over any number of interruptions. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { LAYER_FAILURES, TRAINER_FAILURES, unknownLayer } from './failures.ts';
import { modelNamed } from './model-here.ts';
import { layerName } from './names.ts';
import { Places } from './places.ts';
import { TrainingProgress } from './progress.ts';
import { keepAdapter, layerNamed, readsBefore } from './store.ts';
import { runTrainer, trainerOf } from './trainer.ts';
import { type Rows, rowsOf } from './training-rows.ts';
import { sayTraining } from './under-way.ts';

const dayMs = 86_400_000;

export const QUEUE = 'training';
/** One training at a time; whoever else uses the accelerator asks for the same lease. */
export const ACCELERATOR = ['accelerator', { capacity: 1, scope: 'installation' }] as const;

const Params = z
  .strictObject({
    baseModel: z.string().min(1).describe('a model in a file of this machine, as steps name models'),
    dataset: z.string().min(1).optional().describe('the folder of a data set, or a file with a row a line'),
    fromRuns: z
      .string()
      .min(1)
      .optional()
      .describe('in place of a data set: what models answered in the completed runs of this name, in this project'),
    outputAdapter: z.string().min(1).max(200).describe('what the layer is to be called'),
    gate: z.string().min(1).optional().describe('a file of rows that the gate asks, in place of those of the data set'),
    match: z
      .enum(['exact', 'contains'])
      .default('exact')
      .describe('how the answers of the gate are held against their keys'),
    parent: z.string().min(1).optional().describe('a layer or an adapter to go on from'),
    epochs: z.coerce.number().int().positive().optional(),
    learningRate: z.coerce.number().positive().optional(),
    rank: z.number().int().positive().optional(),
    alpha: z.number().positive().optional(),
    batch: z.number().int().positive().optional(),
    maxTokens: z.number().int().positive().optional(),
    patience: z.number().int().positive().optional(),
    checkpointEvery: z.number().int().positive().optional(),
    threads: z.number().int().positive().optional(),
    seed: z.number().int().min(0).optional(),
    replay: z
      .number()
      .min(0)
      .default(0.5)
      .describe('answers of the model itself for each row, so that it forgets less'),
    noise: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('the share of rows that may answer otherwise than most rows of their fact (0.1)'),
    licence: z.string().min(1).optional(),
  })
  .refine(
    ({ dataset, fromRuns }) => (dataset === undefined) !== (fromRuns === undefined),
    'say where the rows are: "dataset" or "fromRuns"',
  );
type Params = z.infer<typeof Params>;

const Trained = z.strictObject({
  adapterPath: z.string().describe('the hash of what the adapter computes; a model is used with it as MODEL+HASH'),
  name: z.string(),
  baseModel: z.string(),
  base: z.strictObject({ name: z.string(), hash: z.string() }),
  dataset: z.string(),
  gateQuestions: z.number(),
  metrics: z.record(z.string(), Value),
});
type Trained = z.infer<typeof Trained>;

export const train: Command = defineCommand({
  name: 'genome/train',
  description: 'Trains a LoRA adapter for a local model on a data set.',
  permission: 'write',
  speed: 'long',
  queue: QUEUE,
  timeoutMs: dayMs,
  unconfined: true,
  failures: { ...TRAINER_FAILURES, ...LAYER_FAILURES },
  keepsProcess: () => true,
  textField: 'adapterPath',
  params: Params,
  needs: [['dataset'], ['fromRuns']],
  result: Trained,
  run: trained,
});

async function trained(params: Params, context: Context): Promise<Trained> {
  trainerOf(context);
  const name = layerName(params.outputAdapter);
  await sayTraining(name, 'training', context);
  try {
    const made = await trainedAs(name, params, context);
    await sayTraining(name, 'trained', context);
    return made;
  } catch (error) {
    // A worker that ends has another one go on.
    if (!context.signal.aborted) await sayTraining(name, 'failed', context).catch(() => undefined);
    throw error;
  }
}

async function trainedAs(name: string, params: Params, context: Context): Promise<Trained> {
  const { run, worker } = context;
  const places = new Places(worker.training.folder());
  const base = await baseOf(params.baseModel, context);
  const rows = await rowsOf({ ...params, name }, context, places);
  const parent = params.parent === undefined ? undefined : await parentOf(params.parent, context, places);
  const plan = planOf(params, places, { base: base.path, rows, ...defined({ parent }) });
  const folder = places.training({ ...plan, of: identityOf(base.path) });
  // A persona that asks for many waits for its own ones; the personas have their turn one after the other.
  await context.lease(`training of ${run.persona}`, { capacity: 1, scope: 'installation' });
  await context.lease(`training in ${folder}`.slice(-200), { capacity: 1, scope: 'installation' });
  await context.lease(...ACCELERATOR);
  writeAtomically(join(folder, 'plan.json'), JSON.stringify(plan, null, 1));
  const progress = new TrainingProgress(params.outputAdapter, context);
  const args = ['train', join(folder, 'plan.json'), '--out', folder];
  const { id } = await runTrainer({ args, folder, hear: (line) => progress.hear(line) }, context);
  const from = join(folder, 'adapter');
  const manifest = JSON.parse(readFileSync(join(from, 'manifest.json'), 'utf8')) as Manifest;
  if (typeof id !== 'string' || id !== manifest.id)
    throw new Error('bug: the trainer has made another adapter than it says');
  await places.keepAdapter(from, id);
  await keepAdapter(context, {
    id,
    name,
    baseAsked: params.baseModel,
    basePath: base.path,
    baseHash: manifest.base.hash,
    manifest: { ...(manifest as unknown as JsonObject), baseModel: base.name },
    dataset: rows.dataset,
    heldOut: rows.heldOut,
    match: params.match,
  });
  return {
    adapterPath: id,
    name,
    baseModel: params.baseModel,
    base: { name: base.name, hash: manifest.base.hash },
    dataset: rows.dataset,
    gateQuestions: rows.gateQuestions,
    metrics: manifest.metrics,
  };
}

interface Manifest {
  id: string;
  base: { hash: string };
  metrics: { [name: string]: Json };
}

async function baseOf(asked: string, context: Context) {
  const found = await modelNamed(asked, context);
  if ('fault' in found) throw new Failure('TRAINING_BASE_UNUSABLE', found.fault);
  return found;
}

/** A file that is replaced under the same name is another model, and so is a folder with other files. */
function identityOf(path: string): Json {
  const found = statSync(path);
  if (!found.isDirectory()) return [found.size, found.mtimeMs];
  return readdirSync(path)
    .toSorted()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(path, name));
      return [name, size, mtimeMs];
    });
}

async function parentOf(name: string, context: Context, places: Places): Promise<string> {
  const found = await layerNamed(readsBefore(context), name);
  if (found === null) throw unknownLayer(name);
  return places.adapter(found.id);
}

interface Made {
  base: string;
  rows: Rows;
  parent?: string;
}

function planOf(params: Params, places: Places, { base, rows, parent }: Made): JsonObject {
  const { training, validation, heldOut } = rows;
  const {
    baseModel: _model,
    dataset: _dataset,
    fromRuns: _fromRuns,
    outputAdapter: _name,
    gate: _gate,
    match: _match,
    parent: _parent,
    patience,
    ...settings
  } = params;
  return {
    base,
    data: places.rows(training),
    ...(validation === null ? {} : { validation: places.rows(validation), ...defined({ patience }) }),
    heldOut: heldOut === null ? [] : [places.rows(heldOut)],
    ...defined({ parent }),
    ...defined(settings),
  };
}
