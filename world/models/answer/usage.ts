/**
 * The one door through which a provider's count of tokens comes in. Budgets, prices and rows are sums of what
 * passes here, so a count is a whole number that a request can have, or it is no count.
 */
import type { TokenUsage } from '../../../language/models/token-usage.ts';

export type Counts = Omit<TokenUsage, 'estimated'>;

/** As the wire has it. What is absent or null counts as nothing. */
export type SaidUsage = { [Name in keyof Counts]?: unknown } & {
  /** What was read from a cache is part of `input`, too. */
  isCacheInInput?: boolean;
};

/** `none`: the provider did not count. `unusable`: what it said is no count. */
export type ReadUsage = { state: 'counted'; counts: Counts } | { state: 'none' } | { state: 'unusable' };

/** Of one request; no window of a model comes near it. */
const tokensMax = 2 ** 31 - 1;

export function readUsage(said: SaidUsage | null): ReadUsage {
  if (said === null) return { state: 'none' };
  const read = [said.input, said.output, said.cacheRead, said.cacheWrite, said.thinking].map(countIn);
  if (read.includes(null)) return { state: 'unusable' };
  const [sent = 0, output = 0, cacheRead = 0, cacheWrite = 0, thinking = 0] = read as number[];
  if (sent === 0 && output === 0) return { state: 'none' };
  const input = said.isCacheInInput === true ? Math.max(0, sent - cacheRead) : sent;
  return { state: 'counted', counts: { input, output, cacheRead, cacheWrite, thinking } };
}

/** Null where it is no count. */
function countIn(said: unknown): number | null {
  if (said === undefined || said === null) return 0;
  return Number.isSafeInteger(said) && (said as number) >= 0 && (said as number) <= tokensMax ? (said as number) : null;
}
