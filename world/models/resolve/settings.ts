/** What a project says of its models in `sentinel.config`. */
import type { Dialect } from '../openai/dialect.ts';
import type { Prices } from '../records/facts.ts';
import type { ProviderKind } from '../records/table.ts';

export interface ProviderSettings {
  kind: ProviderKind;
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** True when it runs on the user's own hardware: `auto` prefers it, and it costs nothing. */
  isLocal?: boolean | undefined;
  dialect?: { [Key in keyof Dialect]?: Dialect[Key] | undefined } | undefined;
  /** Of `local`: threads of a model; default one for each core. */
  threads?: number | undefined;
  /** Of `local`: how long a model stays loaded without a turn. */
  restMs?: number | undefined;
}

export const TIERS = ['small', 'medium', 'large'] as const;
export type Tier = (typeof TIERS)[number];

/** `*` holds for tasks without a route of their own. */
export const TASKS = ['text', 'tools', 'schema', 'vision', '*'] as const;
export type TaskClass = Exclude<(typeof TASKS)[number], '*'>;

export type Routes = { [Task in (typeof TASKS)[number]]?: { [Size in Tier]?: string[] | undefined } | undefined };

export interface ModelSettings {
  providers: { [name: string]: ProviderSettings };
  /** From a model string without adapters to another, which may have some. */
  aliases: { [model: string]: string };
  /** By `provider/model`. */
  prices: { [model: string]: Prices };
  routes: Routes;
  /** Tokens of context to allocate, by `provider/model`. */
  windows: { [model: string]: number };
  /** The model that makes vectors of texts. */
  embedding?: string | undefined;
}

export const NO_SETTINGS: ModelSettings = { providers: {}, aliases: {}, prices: {}, routes: {}, windows: {} };
