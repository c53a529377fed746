/** What a turn costs, by the prices of its model. */
import type { TokenUsage } from '../../../language/models/token-usage.ts';
import type { Prices } from './facts.ts';

const MILLION = 1_000_000;

/** US dollars; null where nobody knows the prices. A cache without a price of its own costs what input does. */
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
