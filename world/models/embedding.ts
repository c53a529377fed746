/** Vectors of texts by the model that the configuration names for it (`models.embedding`). */
import { TurnError } from './port/turn-failure.ts';
import type { Embedding } from './provider/provider.ts';
import type { ResolvedModel } from './resolve/resolve-model.ts';

export interface Embedded {
  /** The model that made them, as `provider/model@dimensions`, with its version where the provider says one. Vectors of two makers are never compared. */
  by: string;
  /** One for each text, of length 1. */
  vectors: number[][];
}

/** Null: no model is named for it. Rejects with a `TurnError`, or with the signal's reason. */
export type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<Embedded | null>;

/** Where nothing is configured. */
export const noEmbedding: Embed = () => Promise.resolve(null);

export async function embedBy(
  { name, model, adapters, provider: { provider } }: ResolvedModel,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Embedded> {
  if (provider.missing !== null) throw new TurnError({ kind: 'auth', setting: provider.setting }, provider.missing);
  if (provider.embed === undefined || adapters.length > 0)
    throw new TurnError(
      { kind: 'bad-request', field: 'model' },
      `${name} makes no vectors; name a model of Ollama, of an OpenAI-compatible server or of a GGUF file in "models.embedding" of sentinel.config`,
    );
  const { vectors, version } = await provider.embed(model, texts, signal);
  const dimensions = dimensionsOf(name, vectors, texts.length);
  return {
    by: `${name}@${dimensions}${version === null ? '' : `-${version}`}`,
    vectors: vectors.map(normalised),
  };
}

/** What came has to be one vector a text, all of one length. */
function dimensionsOf(name: string, vectors: Embedding['vectors'], count: number): number {
  const dimensions = vectors[0]?.length ?? 0;
  const isWhole =
    vectors.length === count &&
    dimensions > 0 &&
    vectors.every((vector) => vector.length === dimensions && vector.every((value) => Number.isFinite(value)));
  if (isWhole) return dimensions;
  throw new TurnError(
    { kind: 'malformed-answer' },
    `${name} was asked for the vectors of ${count} texts, and answered with something else; name a model that embeds in "models.embedding" of sentinel.config`,
  );
}

function normalised(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => (length === 0 ? 0 : value / length));
}
