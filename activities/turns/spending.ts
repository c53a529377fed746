/** What a request to a model cost, on its way from the answer or the failure to the row of it. */
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Spent, SpendingOf, SpentTokens } from '../../prisma/store/contract/spending-contract.ts';
import { Failure } from '../failures/failures.ts';
import type { Usage } from '../models/port/usage.ts';
import { costOf } from '../models/records/cost.ts';
import type { Prices } from '../models/records/facts.ts';

const NOTHING: SpentTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false };

/** As the details of a failure have it; `usd` is null where nobody knows the price. */
export function spentIn(usage: Usage, prices: Prices | null): JsonObject {
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return { tokens, usd: costOf(usage, prices), usage: { ...usage } };
}

/**
 * Keeps what a request cost that failed. Whoever is cancelled, or runs out of the step's time, has not heard
 * what it cost: its row goes on saying so.
 */
export async function keepFailed(store: Pick<Store, 'spending'>, of: SpendingOf, error: unknown): Promise<void> {
  if (!(error instanceof Failure) || error.code === 'STEP_TIMEOUT') return;
  const { provider, model, spent } = error.details ?? {};
  const isKnown = typeof provider === 'string' && provider !== '' && typeof model === 'string';
  await store.spending.failed(of, {
    model: isKnown ? `${provider}/${model}` : null,
    ...(isJsonObject(spent)
      ? { tokens: { ...NOTHING, ...(spent['usage'] as unknown as Usage) }, usd: usdOf(spent) }
      : { tokens: NOTHING, usd: 0 }),
  });
}

const usdOf = ({ usd }: JsonObject): Spent['usd'] => (typeof usd === 'number' ? usd : null);
