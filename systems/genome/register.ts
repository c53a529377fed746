/** An adapter becomes a layer by its gate alone: what its caller claims is kept and decides nothing. */
import * as z from 'zod';
import { Value } from '../../language/model.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { GATE_FAILURES, LAYER_FAILURES, NAME_FAILURES, TRAINER_FAILURES, unknownLayer } from './failures.ts';
import { refusal, verdictOn } from './gate.ts';
import type { Verdict } from './verdict.ts';
import { layerName } from './names.ts';
import { type AdapterRow, keepGate, keepLayer, keepTag, layerNamed, reads, readsBefore, tagRows } from './store.ts';
import { QUEUE } from './train.ts';
import { sayOver } from './under-way.ts';

const gateTimeMs = 4 * 3_600_000;

const Points = z.number();
export const ShownVerdict: z.ZodType<Verdict> = z.strictObject({
  passed: z.boolean(),
  reasons: z.array(z.string()),
  heldOut: z.strictObject({
    n: Points,
    groups: Points,
    before: Points,
    after: Points,
    gain: Points,
    interval: z.tuple([Points, Points]),
    won: Points,
    lost: Points,
    chance: Points,
  }),
  forgetting: z.strictObject({ n: Points, before: Points, after: Points, forgotten: Points }),
});

const Adapter = z.string().min(1).describe('what "genome/train" says as adapterPath');

const Registered = z.strictObject({
  layerId: z.string(),
  name: z.string(),
  domain: z.string(),
  baseModel: z.string(),
  gate: ShownVerdict,
});

async function adapterNamed(name: string, context: Context): Promise<AdapterRow> {
  const found = await layerNamed(readsBefore(context), name);
  if (found === null) throw unknownLayer(name);
  return found;
}

const RegisterParams = z.strictObject({
  adapterPath: Adapter,
  domain: z.string().min(1).max(200),
  name: z.string().min(1).max(200).optional().describe('that models name it by; else that of its training'),
  performance: Value.optional().describe('what is claimed of it: kept, and decides nothing'),
});

async function register(params: z.infer<typeof RegisterParams>, context: Context) {
  const { adapterPath, domain, performance = null } = params;
  const adapter = await adapterNamed(adapterPath, context);
  const name = layerName(params.name ?? adapter.name);
  await refuseTaken(name, context);
  const gate = await verdictOn(adapter, context);
  if (!gate.passed) {
    await sayOver(adapter.name, context);
    throw refusal(gate.reasons, gate);
  }
  await keepGate(context, adapter.id, gate);
  await keepLayer(context, { id: adapter.id, domain, claimed: performance });
  const [current] = await tagRows(reads(context), name);
  if (current?.layer !== adapter.id) await keepTag(context, name, adapter.id);
  return { layerId: adapter.id, name, domain, baseModel: adapter.baseAsked, gate };
}

/** Nobody takes the name of a layer from a project that uses it. */
async function refuseTaken(name: string, context: Context): Promise<void> {
  const [current] = await tagRows(readsBefore(context), name);
  if (current !== undefined && current.project !== context.run.project) throw nameTaken(name);
}

export const nameTaken = (name: string): Failure =>
  new Failure('LAYER_NAME_TAKEN', `another project has a layer "${name}"; give this one another "name"`);

const registering = (name: string, description: string): Command =>
  defineCommand({
    name,
    description,
    permission: 'write',
    speed: 'long',
    queue: QUEUE,
    timeoutMs: gateTimeMs,
    unconfined: true,
    failures: { ...TRAINER_FAILURES, ...GATE_FAILURES, ...LAYER_FAILURES, ...NAME_FAILURES },
    keepsProcess: () => true,
    textField: 'name',
    params: RegisterParams,
    result: Registered,
    run: register,
  });

const gate = defineCommand({
  name: 'genome/gate',
  description:
    'Asks what was held out, and what is unrelated, without an adapter and with it, and says whether it passes.',
  permission: 'write',
  speed: 'long',
  queue: QUEUE,
  timeoutMs: gateTimeMs,
  unconfined: true,
  failures: { ...TRAINER_FAILURES, ...GATE_FAILURES, ...LAYER_FAILURES },
  keepsProcess: () => true,
  params: z.strictObject({ adapterPath: Adapter }),
  result: ShownVerdict,
  async run({ adapterPath }, context) {
    const adapter = await adapterNamed(adapterPath, context);
    const verdict = await verdictOn(adapter, context);
    await keepGate(context, adapter.id, verdict);
    return verdict;
  },
});

export const registerCommands: Command[] = [
  gate,
  registering(
    'genome/layer-register',
    'Makes an adapter that passes its gate a layer, which models are used with by its name.',
  ),
  registering('genome/paging-adapter-register', 'Does what genome/layer-register does.'),
];
