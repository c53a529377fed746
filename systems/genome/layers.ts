/** What layers there are, what they are called, and what the names behind a model's `+` mean. */
import { statSync } from 'node:fs';
import * as z from 'zod';
import { Value } from '../../language/model.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { LAYER_FAILURES, NAME_FAILURES, unknownLayer } from './failures.ts';
import { layerName } from './names.ts';
import { Places } from './places.ts';
import { nameTaken, ShownVerdict } from './register.ts';
import { Later, laterGenome, laterLayer } from './under-way.ts';
import {
  activeOf,
  type AdapterRow,
  adapterOf,
  keepTag,
  layerNamed,
  type LayerRow,
  layers,
  reads,
  tagRows,
} from './store.ts';

const Shown = z.strictObject({
  id: z.string(),
  name: z.string(),
  tags: z.array(z.string()),
  domain: z.string(),
  baseModel: z.string(),
  base: z.string(),
  dataset: z.string(),
  rank: z.number(),
  alpha: z.number(),
  targets: z.array(z.string()),
  seed: z.number(),
  parents: z.array(z.string().nullable()),
  licence: z.string(),
  metrics: z.record(z.string(), Value),
  gate: ShownVerdict,
  claimed: Value,
  origin: Value.describe('from where it was imported; null: made here'),
  registeredBy: z.string(),
  registeredAt: z.number(),
});
type Shown = z.infer<typeof Shown>;

function shown(row: LayerRow): Shown {
  const { id, name, tags, domain, baseAsked, baseHash, dataset, manifest, verdict, claimed, origin, registeredBy, at } =
    row;
  const { rank, alpha, targets, seed, parents, licence, metrics } = Stated.parse(manifest);
  return {
    id,
    name: tags[0] ?? name,
    tags,
    domain,
    baseModel: baseAsked,
    base: baseHash,
    dataset,
    rank,
    alpha,
    targets,
    seed,
    parents,
    licence,
    metrics,
    gate: verdict,
    claimed,
    origin,
    registeredBy,
    registeredAt: new Date(at).getTime(),
  };
}

const Stated = Shown.pick({
  rank: true,
  alpha: true,
  targets: true,
  seed: true,
  parents: true,
  licence: true,
  metrics: true,
}).loose();

const list = defineCommand({
  name: 'genome/layer-list',
  description: 'Lists the layers of a domain or for a model, the newest first.',
  permission: 'read',
  speed: 'quick',
  params: z.strictObject({ domain: z.string().optional(), baseModel: z.string().optional() }),
  result: z.strictObject({ layers: z.array(Shown) }),
  async run({ domain = null, baseModel = null }, context) {
    return { layers: (await layers(reads(context), { domain, base: baseModel })).map(shown) };
  },
});

const TagParams = z.strictObject({ tag: z.string().min(1).max(100), layer: z.string().min(1) });
const Tagged = z.strictObject({ tag: z.string(), layer: z.string(), before: z.string().nullable() });

const tag = defineCommand({
  name: 'genome/tag',
  description: 'Gives a layer a name, or a name another layer.',
  permission: 'write',
  speed: 'quick',
  failures: { ...LAYER_FAILURES, ...NAME_FAILURES },
  params: TagParams,
  result: Tagged,
  async run({ tag: asked, layer }, context) {
    const name = layerName(asked);
    const found = await registered(layer, context);
    const [current] = await tagRows(reads(context), name);
    if (current !== undefined && current.project !== context.run.project) throw nameTaken(name);
    if (current?.layer !== found) await keepTag(context, name, found);
    return { tag: name, layer: found, before: current?.layer ?? null };
  },
});

const rollback = defineCommand({
  name: 'genome/rollback',
  description: 'Gives a name back to the layer that had it before.',
  permission: 'write',
  speed: 'quick',
  failures: { ...LAYER_FAILURES, ...NAME_FAILURES },
  params: z.strictObject({ tag: z.string().min(1).max(100) }),
  result: Tagged,
  async run({ tag: asked }, context) {
    const name = layerName(asked);
    const [current, ...earlier] = await tagRows(reads(context), name);
    if (current === undefined) throw unknownLayer(asked);
    if (current.project !== context.run.project) throw nameTaken(name);
    const before = earlier.find(({ layer }) => layer !== current.layer);
    if (before === undefined) throw new Failure('LAYER_UNKNOWN', `"${name}" has named no other layer before`);
    await keepTag(context, name, before.layer);
    return { tag: name, layer: before.layer, before: current.layer };
  },
});

/** Only what has passed its gate has a name. */
async function registered(name: string, context: Context): Promise<string> {
  const found = await layerNamed(reads(context), name);
  const [isLayer] =
    found === null ? [] : await context.tx.query('select 1 from genome_layers where id = $1', [found.id]);
  if (found === null || isLayer === undefined) throw unknownLayer(name);
  return found.id;
}

const File = z.strictObject({ path: z.string(), scale: z.number(), base: z.string() });
type File = z.infer<typeof File>;

function fileOf({ id, baseHash }: Pick<AdapterRow, 'id' | 'baseHash'>, scale: number, { worker }: Context): File {
  const path = new Places(worker.training.folder()).adapterFile(id);
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    throw new Failure('LAYER_UNKNOWN', `the file of the layer ${id} is not on this machine (${path})`);
  return { path, scale, base: baseHash };
}

const layer = defineCommand({
  name: 'genome/layer',
  description: "Finds the file of a layer that stands behind a model's +.",
  permission: 'read',
  speed: 'quick',
  doors: ['background'],
  failures: LAYER_FAILURES,
  params: z.strictObject({ name: z.string() }),
  result: z.union([File, Later]).nullable(),
  async run({ name }, context) {
    const found = await layerNamed(reads(context), name);
    return found === null ? laterLayer(name, context) : fileOf(found, 1, context);
  },
});

const genome = defineCommand({
  name: 'genome/of-persona',
  description: 'Finds the files of the layers that a persona uses now.',
  permission: 'read',
  speed: 'quick',
  doors: ['background'],
  failures: LAYER_FAILURES,
  params: z.strictObject({ persona: z.string() }),
  result: z.union([z.array(File), Later]).nullable(),
  async run({ persona }, context) {
    const later = await laterGenome(persona, context);
    if (later !== null) return later;
    const active = await activeOf(reads(context), persona);
    if (active === null) return (await isPersona(persona, context)) ? [] : null;
    const files: File[] = [];
    for (const { layer: id, scale } of active.layers) {
      const found = await adapterOf(reads(context), id);
      if (found === null) throw unknownLayer(id);
      files.push(fileOf(found, scale, context));
    }
    return files;
  },
});

/** One without layers answers as the model alone does. */
async function isPersona(personaId: string, context: Context): Promise<boolean> {
  const known = (await context.call('persona/list', {})) as { id: string }[];
  return known.some(({ id }) => id === personaId);
}

export const layerCommands: Command[] = [list, tag, rollback, layer, genome];
