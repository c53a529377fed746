/** What models there are, and how they are: for people to look at. */
import type { Health } from './provider/provider.ts';
import type { ModelFacts } from './records/facts.ts';
import type { ModelDirectory, OpenProvider } from './resolve/directory.ts';

export interface ShownModel {
  /** `provider/model`. */
  name: string;
  sizeBytes: number | null;
  /** Tokens that a turn would get. */
  window: number | null;
  /** Tokens that are allocated now, where the model is loaded. */
  allocated: number | null;
  facts: ModelFacts;
}

export interface ShownProvider {
  name: string;
  kind: string;
  health: Health;
  models: ShownModel[];
}

/** Of a provider with very many models, the rest is a number. */
const DESCRIBED_MAX = 50;

export async function inventory(directory: ModelDirectory, signal: AbortSignal): Promise<ShownProvider[]> {
  return Promise.all([...directory.providers.values()].map((open) => shownProvider(directory, open, signal)));
}

async function shownProvider(
  directory: ModelDirectory,
  open: OpenProvider,
  signal: AbortSignal,
): Promise<ShownProvider> {
  const { name } = open.provider;
  const began = performance.now();
  const listing = await directory.list(open, signal);
  const health: Health = listing.ok
    ? { ok: true, ms: Math.round(performance.now() - began) }
    : { ok: false, message: listing.why };
  const listed = listing.ok ? listing.models.slice(0, DESCRIBED_MAX) : [];
  const models = await Promise.all(
    listed.map(async ({ id, sizeBytes, allocated, window }): Promise<ShownModel> => {
      const facts = await directory.facts(open, id, signal);
      return { name: `${name}/${id}`, sizeBytes, allocated, window: facts.window ?? window, facts };
    }),
  );
  return { name, kind: open.kind, health, models };
}
