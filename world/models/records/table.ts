/**
 * The models whose facts do not come from their provider at run time, as of 24 November 2026. What a
 * provider reports goes before this, and what configuration says goes before both. A name that ends with
 * `*` is of all ids that begin so; the longest that fits holds.
 */
import type { ModelFacts, Prices, ThinkingControl } from './facts.ts';

export type ProviderKind = 'anthropic' | 'openai' | 'ollama' | 'local';

const thinks = (canBeOff: boolean): ThinkingControl => ({ kind: 'adaptive', canBeOff });
const budget: ThinkingControl = { kind: 'budget' };
const effort: ThinkingControl = { kind: 'effort' };

/** Of Anthropic: reading its cache costs a tenth, writing it for five minutes a quarter more. */
const claude = (input: number, output: number): Prices => ({
  input,
  output,
  cacheRead: input / 10,
  cacheWrite: input * 1.25,
});
const gpt = (input: number, output: number, cacheRead = input / 10): Prices => ({ input, output, cacheRead });
const large = { window: 1_000_000, maxOutput: 128_000 };
const small = { window: 200_000, maxOutput: 64_000 };

const unknown: ModelFacts = {
  window: null,
  maxOutput: null,
  tools: true,
  toolChoice: true,
  images: true,
  caching: false,
  temperature: true,
  thinking: null,
  schema: true,
  schemaWithTools: true,
  adapters: false,
  prices: null,
  retires: null,
};

const free: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** A model of a provider that nothing more is known of. */
const DEFAULTS: Readonly<Record<ProviderKind, ModelFacts>> = {
  anthropic: { ...unknown, ...small, caching: true, temperature: false, thinking: thinks(true) },
  openai: unknown,
  ollama: { ...unknown, toolChoice: false, images: false, schemaWithTools: false, prices: free },
  local: { ...unknown, toolChoice: false, images: false, schemaWithTools: false, adapters: true, prices: free },
};

const TABLE: Readonly<Record<ProviderKind, Readonly<Record<string, Partial<ModelFacts>>>>> = {
  anthropic: {
    'claude-fable-5*': { ...large, thinking: thinks(false), prices: claude(10, 50) },
    'claude-opus-5-5*': { ...large, thinking: thinks(false), prices: claude(4, 20) },
    'claude-opus-5*': { ...large, thinking: thinks(true), prices: claude(5, 25) },
    'claude-opus-4-8*': { ...large, thinking: thinks(true), prices: claude(5, 25) },
    'claude-opus-4-7*': { ...large, thinking: thinks(true), prices: claude(5, 25) },
    'claude-opus-4-6*': { ...large, thinking: thinks(true), prices: claude(5, 25) },
    'claude-opus-4-5*': {
      ...small,
      thinking: budget,
      prices: claude(5, 25),
      retires: { on: '2027-01-22', instead: 'claude-opus-5-5' },
    },
    'claude-opus-4-1*': { retires: { on: '2026-08-05', instead: 'claude-opus-5-5' } },
    'claude-opus-4-2025*': { retires: { on: '2026-06-15', instead: 'claude-opus-5-5' } },
    'claude-sonnet-5*': { ...large, thinking: thinks(true), prices: claude(2, 10) },
    'claude-sonnet-4-6*': { window: 1_000_000, maxOutput: 64_000, thinking: thinks(true), prices: claude(3, 15) },
    'claude-sonnet-4-5*': {
      ...small,
      thinking: budget,
      prices: claude(3, 15),
      retires: { on: '2026-11-30', instead: 'claude-sonnet-5-5' },
    },
    'claude-sonnet-4-2025*': { retires: { on: '2026-06-15', instead: 'claude-sonnet-5-5' } },
    'claude-haiku-5-5*': {
      ...large,
      thinking: thinks(true),
      prices: { ...claude(0.1, 0.5), long: { above: 100_000, ...claude(0.5, 2.5) } },
    },
    'claude-haiku-4-5*': { ...small, thinking: budget, prices: claude(1, 5) },
    'claude-3-7-sonnet*': { retires: { on: '2026-02-19', instead: 'claude-sonnet-5-5' } },
    'claude-3-5-sonnet*': { retires: { on: '2025-10-28', instead: 'claude-sonnet-5-5' } },
    'claude-3-5-haiku*': { retires: { on: '2026-02-19', instead: 'claude-haiku-5-5' } },
  },
  openai: {
    'gpt-5.6-sol*': { temperature: false, thinking: effort, prices: gpt(5, 30) },
    'gpt-5.6-terra*': { temperature: false, thinking: effort, prices: gpt(2.5, 15) },
    'gpt-5.6-luna*': { temperature: false, thinking: effort, prices: gpt(1, 6) },
    'gpt-5.4-mini*': { temperature: false, thinking: effort, prices: gpt(0.75, 4.5) },
    'gpt-5.4*': { temperature: false, thinking: effort, prices: gpt(2.5, 15) },
    'gpt-5.2*': { window: 400_000, maxOutput: 128_000, temperature: false, thinking: effort, prices: gpt(1.75, 14) },
    'gpt-5-mini*': { window: 400_000, maxOutput: 128_000, temperature: false, thinking: effort, prices: gpt(0.25, 2) },
    'gpt-5*': { window: 400_000, maxOutput: 128_000, temperature: false, thinking: effort, prices: gpt(1.25, 10) },
    'gpt-4.1': { window: 1_047_576, maxOutput: 32_768, prices: gpt(2, 8, 0.5) },
  },
  ollama: {},
  local: {},
};

export interface Overrides {
  window?: number;
  prices?: Prices;
}

/** What holds for a model: configuration before the provider's word, that before the table. */
export function factsOf(
  kind: ProviderKind,
  id: string,
  reported: Partial<ModelFacts> = {},
  overrides: Overrides = {},
): ModelFacts {
  return { ...DEFAULTS[kind], ...recordOf(kind, id), ...reported, ...overrides };
}

/** The table's entry for an id; empty where it has none. */
export function recordOf(kind: ProviderKind, id: string): Partial<ModelFacts> {
  const fits = (name: string): boolean => (name.endsWith('*') ? id.startsWith(name.slice(0, -1)) : id === name);
  const [found] = Object.entries(TABLE[kind])
    .filter(([name]) => fits(name))
    .toSorted(([a], [b]) => b.length - a.length);
  return found?.[1] ?? {};
}

/** The provider whose ids look like this one; null where the id says nothing. */
export function kindOf(id: string): ProviderKind | null {
  if (id.startsWith('claude-')) return 'anthropic';
  if (/^(?:gpt-|chatgpt-|o\d(?:$|-)|codex-)/.test(id)) return 'openai';
  if (/^[\w./-]+:[\w.-]+$/.test(id)) return 'ollama';
  return null;
}
