/** The providers that there are, and what they say of their models; asked again after a while. */
import { isTransient, TurnError } from '../port/turn-failure.ts';
import type { ListedModel, Provider } from '../provider/provider.ts';
import type { ModelFacts } from '../records/facts.ts';
import { factsOf, type Overrides, type ProviderKind } from '../records/table.ts';
import type { ModelSettings } from './settings.ts';
import { defined } from '../../../language/defined.ts';

export interface OpenProvider {
  kind: ProviderKind;
  provider: Provider;
}

/** Who is not there does not hold up a turn that could go elsewhere. */
const ASK_MAX_MS = 3000;
const KEPT_MS = 60_000;
/** Somebody may be about to start it. */
const KEPT_AWAY_MS = 3000;

/** `isAway`: it is there at other times, as far as anybody can tell. */
export interface NotListed {
  ok: false;
  why: string;
  isAway: boolean;
}
export type Listing = { ok: true; models: ListedModel[] } | NotListed;

export class ModelDirectory {
  readonly providers: ReadonlyMap<string, OpenProvider>;
  readonly settings: ModelSettings;
  readonly #facts = new Map<string, Kept<Partial<ModelFacts> | null>>();
  readonly #listings = new Map<string, Kept<ListedModel[] | null>>();
  readonly #notListed = new Map<string, NotListed>();
  readonly #seen = new Set<string>();

  constructor(providers: ReadonlyMap<string, OpenProvider>, settings: ModelSettings) {
    this.providers = providers;
    this.settings = settings;
  }

  /** Rejects only with the signal's reason: where the provider says nothing, the record holds. */
  async facts({ kind, provider }: OpenProvider, model: string, signal: AbortSignal): Promise<ModelFacts> {
    const name = `${provider.name}/${model}`;
    const reported = await kept(this.#facts, name, async () => {
      if (provider.missing !== null) return null;
      return within(signal, (brief) => provider.describe(model, brief)).catch(() => null);
    });
    signal.throwIfAborted();
    return factsOf(kind, model, { ...reported, ...this.#free(provider) }, this.#overrides(name));
  }

  /** What a provider has, or why it cannot be asked. Rejects only with the signal's reason. */
  async list(open: OpenProvider, signal: AbortSignal): Promise<Listing> {
    const { provider } = open;
    if (provider.missing !== null) return { ok: false, why: provider.missing, isAway: false };
    const models = await kept(this.#listings, provider.name, () =>
      within(signal, (brief) => provider.list(brief)).catch((error: unknown) => {
        this.#notListed.set(provider.name, this.#away(open, error));
        return null;
      }),
    );
    signal.throwIfAborted();
    if (models === null)
      return this.#notListed.get(provider.name) ?? { ok: false, why: 'it does not answer', isAway: false };
    this.#seen.add(provider.name);
    return { ok: true, models };
  }

  /** Ollama has a usual address, where there may never have been one. */
  #away({ kind, provider: { name } }: OpenProvider, error: unknown): NotListed {
    const isMeant = kind !== 'ollama' || Object.hasOwn(this.settings.providers, name) || this.#seen.has(name);
    const isTransientError = !(error instanceof TurnError) || isTransient(error.finding);
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, why, isAway: isMeant && isTransientError };
  }

  #overrides(name: string): Overrides {
    const { windows, prices } = this.settings;
    const [window, price] = [windows[name], prices[name]];
    return defined({ window, prices: price });
  }

  #free({ isLocal }: Provider): Partial<ModelFacts> {
    return isLocal ? { prices: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } } : {};
  }
}

interface Kept<Value> {
  until: number;
  value: Promise<Value>;
}

/** What was found is kept for a while; `null`, which is nothing, for a short one. */
async function kept<Value>(
  all: Map<string, Kept<Value | null>>,
  name: string,
  ask: () => Promise<Value | null>,
): Promise<Value | null> {
  const found = all.get(name);
  if (found !== undefined && found.until > Date.now()) return found.value;
  const asked: Kept<Value | null> = { until: Date.now() + KEPT_MS, value: ask() };
  all.set(name, asked);
  const value = await asked.value;
  if (value === null) asked.until = Date.now() + KEPT_AWAY_MS;
  return value;
}

async function within<Value>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  return ask(AbortSignal.any([signal, AbortSignal.timeout(ASK_MAX_MS)]));
}
