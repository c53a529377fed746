/** Several layers at once: the exact weighted sum, by the scales with which they are used. */
import * as z from 'zod';
import { isJsonObject, type Json } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { modelText, parseModelString, scaledName } from '../../language/models/model-string.ts';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { doorOf, personaOfCaller } from '../../operations/caller.ts';
import { Failure } from '../../world/failures/failures.ts';
import { COMPOSITION_FAILURES, LAYER_FAILURES, unknownLayer } from './failures.ts';
import { hashOf } from './places.ts';
import {
  compositionOf,
  type CompositionRow,
  keepActive,
  keepComposition,
  layerNamed,
  reads,
  type Scaled,
} from './store.ts';

/** A model's text with more of them would be too long. */
export const LAYERS_MAX = 8;
const scaleMax = 100;

export const Weight = z.number().min(-scaleMax).max(scaleMax);
/** As a step, a list of layers and a model write them. */
const Item = z.union([
  z.string().min(1),
  z
    .object({
      layer: z.string().optional(),
      name: z.string().optional(),
      id: z.string().optional(),
      weight: Weight.optional(),
      scale: Weight.optional(),
    })
    .refine((item) => item.layer ?? item.id ?? item.name, 'names no layer: give "layer"'),
]);
type Item = z.infer<typeof Item>;

export const ShownComposition = z.strictObject({
  id: z.string(),
  modelId: z.string(),
  baseModel: z.string(),
  layers: z.array(z.strictObject({ layer: z.string(), scale: z.number() })),
});

const named = (item: Item): { name: string; scale: number | undefined } => {
  if (typeof item === 'string') return scaledName(item);
  return { name: item.layer ?? item.id ?? item.name ?? '', scale: item.weight ?? item.scale };
};

/** Without weights each has an equal part. */
export async function composed(items: readonly Item[], context: Context): Promise<CompositionRow> {
  const parts: Scaled[] = [];
  let [baseAsked, baseHash] = ['', ''];
  for (const item of items) {
    const { name, scale } = named(item);
    const found = await layerNamed(reads(context), name);
    if (found === null) throw unknownLayer(name);
    if (baseHash !== '' && found.baseHash !== baseHash)
      throw new Failure(
        'LAYERS_UNFIT',
        `"${name}" is for ${found.baseAsked}, and the layers before it are for ${baseAsked}; compose layers of one model`,
      );
    [baseAsked, baseHash] = [found.baseAsked, found.baseHash];
    const before = parts.find(({ layer }) => layer === found.id);
    const by = scale ?? 1 / items.length;
    if (before === undefined) parts.push({ layer: found.id, scale: by });
    else before.scale += by;
  }
  refuseBeyond(parts);
  const id = hashOf({ baseHash, layers: parts.toSorted((a, b) => (a.layer < b.layer ? -1 : 1)) as unknown as Json });
  return { id, baseAsked, baseHash, layers: parts };
}

/** Also where one layer is named several times, or a model's text names many. */
function refuseBeyond(parts: readonly Scaled[]): void {
  if (parts.length > LAYERS_MAX)
    throw new Failure('LAYERS_UNFIT', `${parts.length} layers are too many; compose at most ${LAYERS_MAX}`);
  const beyond = parts.find(({ scale }) => Math.abs(scale) > scaleMax);
  if (beyond !== undefined)
    throw new Failure(
      'LAYERS_UNFIT',
      `the layer ${beyond.layer} has the scale ${beyond.scale}; give one from -${scaleMax} to ${scaleMax}`,
    );
}

const rounded = (scale: number): number => Number(scale.toFixed(6));

export function shownComposition({ id, baseAsked, layers }: CompositionRow) {
  const at = layers.map(({ layer, scale }) => ({ layer, scale: rounded(scale) }));
  const read = parseModelString(baseAsked);
  const base = read.ok && read.model.type === 'model' ? modelText(read.model) : baseAsked;
  const modelId = [base, ...at.map(({ layer, scale }) => (scale === 1 ? layer : `${layer}@${scale}`))].join('+');
  return { id, modelId, baseModel: baseAsked, layers: at };
}

const compose = defineCommand({
  name: 'genome/compose',
  description: 'Composes layers by weights, to be used as one model.',
  permission: 'write',
  speed: 'quick',
  textField: 'modelId',
  failures: { ...LAYER_FAILURES, ...COMPOSITION_FAILURES },
  params: z.strictObject({
    layers: z.array(Item).min(1).max(LAYERS_MAX),
    method: z.literal('weighted').default('weighted'),
  }),
  result: ShownComposition,
  async run({ layers }, context) {
    const made = await composed(layers, context);
    await keepComposition(context, made);
    return shownComposition(made);
  },
});

/** What was composed, by its id or as a model's text; layers in a list or by a name; or an object that holds one of these. */
async function compositionIn(given: Json, context: Context): Promise<CompositionRow> {
  if (typeof given === 'string') {
    const found = await compositionOf(reads(context), given);
    if (found !== null) return found;
    const read = parseModelString(given);
    const behind = read.ok && read.model.type === 'model' ? read.model.adapters : [];
    if (behind.length === 0) return composed([{ layer: given, scale: 1 }], context);
    return composed(
      behind.map((adapter) => itemOf(adapter, given)),
      context,
    );
  }
  if (Array.isArray(given)) return composed(itemsIn(given), context);
  if (isJsonObject(given))
    for (const key of ['selected', 'composition', 'modelId', 'id', 'layers']) {
      const inner = given[key];
      if (inner !== undefined && inner !== null) return compositionIn(inner, context);
    }
  throw new Failure(
    'LAYERS_UNFIT',
    'the composition names no layers; give the id or the modelId of "genome/compose", or a list of layers',
  );
}

function itemOf(adapter: { type: string; name?: string; scale: number }, text: string): Item {
  if (adapter.type === 'layer' && adapter.name !== undefined) return { layer: adapter.name, scale: adapter.scale };
  throw new Failure('LAYERS_UNFIT', `"${text}" names an adapter that is no layer; a persona uses layers`);
}

function itemsIn(given: readonly Json[]): Item[] {
  const read = z.array(Item).min(1).max(LAYERS_MAX).safeParse(given);
  if (read.success) return read.data;
  throw new Failure(
    'LAYERS_UNFIT',
    `the composition is no list of 1 to ${LAYERS_MAX} layers: ${z.prettifyError(read.error)}`,
  );
}

const setActive = defineCommand({
  name: 'genome/set-active',
  description: 'Says which layers a persona uses from its next turn on, as PERSONA-genome; null: none.',
  permission: 'write',
  speed: 'quick',
  failures: { ...LAYER_FAILURES, ...COMPOSITION_FAILURES },
  params: z.strictObject({
    personaId: z.string().refine(isPersonaId, `must be the id of a persona: ${personaRule}`),
    composition: Value,
  }),
  result: z.strictObject({ personaId: z.string(), composition: ShownComposition.nullable() }),
  async run({ personaId, composition }, context) {
    refuseOthers(personaId, context);
    const by = personaOfCaller(context);
    if (composition === null) {
      await keepActive(context, personaId, null, by);
      return { personaId, composition: null };
    }
    const made = await compositionIn(composition, context);
    await keepComposition(context, made);
    await keepActive(context, personaId, made.id, by);
    return { personaId, composition: shownComposition(made) };
  },
});

/** A model decides for the persona of its run alone. */
function refuseOthers(personaId: string, context: Context): void {
  if (doorOf(context.caller) === 'model' && personaId !== context.run.persona)
    throw new Failure(
      'RIGHTS_EXCEEDED',
      `a model says what the persona of its own run uses, and "${personaId}" is another; make it a step`,
    );
}

export const composeCommands: Command[] = [compose, setActive];
