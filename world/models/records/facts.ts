/**
 * What is known of a model: from the table of records, from the provider at run time, from configuration; and what a
 * turn costs by it.
 */
import type { TokenUsage } from '../../../language/models/token-usage.ts';

/** US dollars for a million tokens. */
export interface Prices {
  input: number;
  output: number;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  /** Prices of requests whose input, cached tokens included, is larger than `above` tokens. */
  long?:
    | { above: number; input: number; output: number; cacheRead?: number | undefined; cacheWrite?: number | undefined }
    | undefined;
}

/** How a model is told how long to think. */
export type ThinkingControl =
  /** Thinks as it sees fit, up to an effort. */
  | { kind: 'adaptive'; canBeOff: boolean }
  /** Thinks up to a number of tokens. */
  | { kind: 'budget' }
  /** Takes an effort alone. */
  | { kind: 'effort' }
  /** Thinks or does not. */
  | { kind: 'switch' };

export interface ModelFacts {
  /** Tokens of context that a request and its answer have room in; null where nobody says. */
  window: number | null;
  /** Tokens of one answer. */
  maxOutput: number | null;
  tools: boolean;
  /** Can be made to call a tool. */
  toolChoice: boolean;
  images: boolean;
  /** Takes marks for its prompt cache; what caches by itself needs none. */
  caching: boolean;
  temperature: boolean;
  thinking: ThinkingControl | null;
  /** Answers by a schema natively. */
  schema: boolean;
  /** Also in a turn that has tools. */
  schemaWithTools: boolean;
  adapters: boolean;
  prices: Prices | null;
  /** The provider refuses it from that day on (`YYYY-MM-DD`); `instead` is what it recommends. */
  retires: { on: string; instead: string | null } | null;
}

const MILLION = 1_000_000;

/** What a turn costs, in US dollars; null where nobody knows the prices. A cache without a price of its own costs what input does. */
export function costOf(
  usage: Pick<TokenUsage, 'input' | 'output' | 'cacheRead' | 'cacheWrite'>,
  prices: Prices | null,
): number | null {
  if (prices === null) return null;
  const sent = usage.input + usage.cacheRead + usage.cacheWrite;
  const rates = prices.long !== undefined && sent > prices.long.above ? prices.long : prices;
  const { input, output, cacheRead = input, cacheWrite = input } = rates;
  return (
    (usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite) /
    MILLION
  );
}
