/** The models of a worker or of the command line: providers from environment and configuration, and turns at them. */
import { availableParallelism } from 'node:os';
import { defined } from '../../language/defined.ts';
import { keepOwnKeys, ownMasker } from '../own-keys/own-keys.ts';
import { anthropicProvider } from './anthropic/anthropic.ts';
import { embedBy, noEmbedding, type Embed } from './embedding.ts';
import { localProvider } from './local/local.ts';
import { ModelHost, type ModelProgram } from './local/model-host.ts';
import { LocalModels } from './local/registry.ts';
import { ollamaAddress } from './ollama/host.ts';
import { ollamaProvider } from './ollama/ollama.ts';
import { openAiProvider } from './openai/openai.ts';
import { TurnError } from './port/turn-failure.ts';
import type { TurnOptions, TurnRequest, TurnResult } from './port/turn.ts';
import type { Provider } from './provider/provider.ts';
import { takeTurn } from './provider/take-turn.ts';
import { ModelDirectory, type OpenProvider } from './resolve/directory.ts';
import { resolveModel, type AskedAt, type ResolvedModel } from './resolve/resolve-model.ts';
import type { Needs } from './resolve/route.ts';
import type { ModelSettings, ProviderSettings } from './resolve/settings.ts';

/** The names that users have in their shells. */
export interface ModelEnvironment {
  ANTHROPIC_API_KEY?: string | undefined;
  ANTHROPIC_BASE_URL?: string | undefined;
  OLLAMA_HOST?: string | undefined;
  OPENAI_API_KEY?: string | undefined;
  OPENAI_BASE_URL?: string | undefined;
}

export interface ModelParts {
  settings: ModelSettings;
  env: ModelEnvironment;
  /** The file of `sentinel models add`. */
  registry: string;
  program: ModelProgram;
  /** Where relative paths of models start. */
  project: string;
}

const REST_MS = 15 * 60_000;

export class Models {
  readonly directory: ModelDirectory;
  readonly local: LocalModels;
  /** By the model that the configuration names for it; `noEmbedding` where it names none. */
  readonly embed: Embed;

  constructor({ settings, env, registry, program, project }: ModelParts) {
    this.local = new LocalModels(registry);
    const kinds: { [name: string]: ProviderSettings } = {
      local: { kind: 'local' },
      ollama: { kind: 'ollama' },
      anthropic: { kind: 'anthropic' },
      openai: { kind: 'openai' },
      ...settings.providers,
    };
    const providers = Object.entries(kinds).map(([name, own]): [string, OpenProvider] => [
      name,
      { kind: own.kind, provider: openProvider(name, own, { env, models: this.local, program, project }) },
    ]);
    const addresses = [env.ANTHROPIC_BASE_URL, env.OPENAI_BASE_URL, env.OLLAMA_HOST];
    keepOwnKeys([
      ['ANTHROPIC_API_KEY', env.ANTHROPIC_API_KEY],
      ['OPENAI_API_KEY', env.OPENAI_API_KEY],
      ...Object.entries(kinds).map(([name, own]) => [`models.providers.${name}.apiKey`, own.apiKey] as const),
      ...[...addresses, ...Object.values(kinds).map(({ baseUrl }) => baseUrl)]
        .filter((address) => address?.includes('://'))
        .map((address) => ["a provider's address", address] as const),
    ]);
    this.directory = new ModelDirectory(new Map(providers), settings);
    this.embed = settings.embedding === undefined ? noEmbedding : this.#embedding(settings.embedding, project);
  }

  /** The model that a step's text means now. Rejects with a `TurnError`, or with the signal's reason. */
  resolve(asked: string, needs: Needs, at: AskedAt): Promise<ResolvedModel> {
    const today = new Date().toISOString().slice(0, 10);
    return resolveModel(asked, needs, { directory: this.directory, today, ...at });
  }

  /** One request. Rejects only with the signal's reason. */
  turn(
    { provider, model, adapters, facts }: ResolvedModel,
    request: Omit<TurnRequest, 'model' | 'adapters'>,
    options: TurnOptions,
  ): Promise<TurnResult> {
    const whole: TurnRequest = { ...request, model, ...(adapters.length === 0 ? {} : { adapters }) };
    return takeTurn(provider.provider, whole, facts, options).then(withoutKeys);
  }

  /** Whether the configuration names a model that makes vectors. */
  get embeds(): boolean {
    return this.embed !== noEmbedding;
  }

  #embedding(asked: string, project: string): Embed {
    return async (texts, signal) =>
      embedBy(await this.resolve(asked, { messages: [] }, { project, signal }), texts, signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.directory.providers.values()].map(({ provider }) => provider.close()));
  }
}

/** What a provider says of our key stays with it. What only its provider reads goes back as it came. */
function withoutKeys(result: TurnResult): TurnResult {
  const masker = ownMasker();
  if (!result.ok || masker.isEmpty) return result;
  const blocks = result.reply.blocks.map((block) =>
    block.type === 'text' || block.type === 'tool-call' ? masker.json(block) : block,
  );
  return { ...result, reply: { ...result.reply, blocks } };
}

interface Parts {
  env: ModelEnvironment;
  models: LocalModels;
  program: ModelProgram;
  project: string;
}

function openProvider(name: string, settings: ProviderSettings, { env, models, program, project }: Parts): Provider {
  const { kind, apiKey, baseUrl, dialect, isLocal, threads = availableParallelism(), restMs = REST_MS } = settings;
  // A provider of the project's own does not take the key of another.
  const isOwn = name !== kind;
  const keyVariable = isOwn ? `models.providers.${name}.apiKey` : `${kind.toUpperCase()}_API_KEY`;
  switch (kind) {
    case 'anthropic':
      return anthropicProvider({
        name,
        apiKey: apiKey ?? (isOwn ? null : given(env.ANTHROPIC_API_KEY)),
        baseUrl: baseUrl ?? (isOwn ? null : given(env.ANTHROPIC_BASE_URL)),
        keyVariable,
      });
    case 'openai':
      return openAiProvider({
        name,
        apiKey: apiKey ?? (isOwn ? null : given(env.OPENAI_API_KEY)),
        baseUrl: baseUrl ?? (isOwn ? null : given(env.OPENAI_BASE_URL)),
        keyVariable,
        isLocal: isLocal ?? false,
        ...(dialect === undefined ? {} : { dialect: defined(dialect) }),
      });
    case 'ollama':
      return ollamaProvider({ name, address: addressOf(baseUrl ?? (isOwn ? undefined : env.OLLAMA_HOST)) });
    case 'local':
      return localProvider({ name, models, host: new ModelHost({ program, threads, restMs }), project });
    default:
      return kind satisfies never;
  }
}

const given = (value: string | undefined): string | null =>
  value === undefined || value.trim() === '' ? null : value.trim();

function addressOf(text: string | undefined): string {
  const address = ollamaAddress(text);
  if (address !== null) return address;
  throw new TurnError(
    { kind: 'bad-request', field: 'OLLAMA_HOST' },
    'OLLAMA_HOST is no address; write host, host:port or http://host:port',
  );
}
