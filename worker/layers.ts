/**
 * What the names behind a model's `+` mean: the systems that know layers are asked, one after the other, by their
 * commands. What is found are files that the model's provider reads, so only a system that a person has installed says.
 */
import * as z from 'zod';
import type { Json } from '../language/json.ts';
import type { RunPort } from '../operations/command.ts';
import { quickContext } from '../operations/quick-context.ts';
import type { Registry } from '../operations/registry.ts';
import type { ModelLayers } from '../operations/system.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { Failure } from '../world/failures/failures.ts';
import type { Models } from '../world/models/open-models.ts';
import { TurnError } from '../world/models/port/turn-failure.ts';
import type { LayerResolver } from '../world/models/resolve/adapters.ts';

export interface KnownLayers extends ModelLayers {
  system: string;
}

export interface LayersParts {
  store: Store;
  registry: Registry;
  runs: RunPort;
  project: string;
  known: readonly KnownLayers[];
}

const LAYERS_HANDLE = '@layers';
const callMs = 10_000;

const Layer = z.strictObject({ path: z.string().min(1), scale: z.number(), base: z.string().exactOptional() });
const Layers = z.array(Layer);
/** It is not there yet: asked again then. */
const Later = z.strictObject({ waitMs: z.number().positive(), because: z.string() });

/** Models that find layers, too. */
export function withLayers(models: Models, parts: LayersParts): Pick<Models, 'resolve' | 'turn'> {
  const isAsked = parts.known.length > 0;
  return {
    resolve: (asked, needs, at) =>
      models.resolve(asked, needs, isAsked ? { ...at, layers: layersBy(parts, at.run) } : at),
    turn: (...asked) => models.turn(...asked),
  };
}

/** `run`: which asks. */
export function layersBy(parts: LayersParts, run = LAYERS_HANDLE): LayerResolver {
  const ask = async <Found>(what: keyof ModelLayers, params: Record<string, string>, shape: z.ZodType<Found>) => {
    const [[, name] = []] = Object.entries(params);
    for (const known of parts.known) {
      const answer = await performed({ ...parts, run }, known, known[what], params);
      if (answer === null) continue;
      const read = shape.safeParse(answer);
      if (read.success) return read.data;
      const later = Later.safeParse(answer);
      if (later.success) {
        const { waitMs: retryAfterMs, because } = later.data;
        const layer = what === 'layer' ? `the layer "${name}"` : `the genome of "${name}"`;
        throw new TurnError({ kind: 'layer-in-training', layer, retryAfterMs }, because);
      }
      throw unusable(`${known[what]} answered with what is no layer for "${name}" (${z.prettifyError(read.error)})`);
    }
    const of = parts.known.map(({ system }) => system).join(', ');
    throw unusable(`${what === 'layer' ? 'the layer' : 'the genome of'} "${name}" is not known to ${of}`);
  };
  return {
    layer: (name) => ask('layer', { name }, Layer),
    genome: (persona) => ask('genome', { persona }, Layers),
  };
}

const unusable = (finding: string): TurnError => new TurnError({ kind: 'unsupported', what: 'adapters' }, finding);

async function performed(
  { store, registry, runs, project, run }: LayersParts & { run: string },
  { system }: KnownLayers,
  command: string,
  params: Record<string, string>,
): Promise<Json> {
  const session = store.session();
  try {
    const context = quickContext({
      run: { handle: run, project, persona: system, definitionHash: '' },
      caller: { kind: 'background', name: system },
      key: command,
      store,
      session,
      runPort: runs,
      signal: AbortSignal.timeout(callMs),
      timeoutMs: callMs,
    });
    return await registry.run(command, params, context);
  } catch (error) {
    if (error instanceof Failure && error.code !== 'STORE_UNAVAILABLE') throw unusable(`${command}: ${error.message}`);
    throw error;
  } finally {
    await session.close();
  }
}
