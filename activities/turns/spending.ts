/** What a request to a model cost, on its way from the answer or the failure to the row of it. */
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { NO_USAGE, tokensOf, type TokenUsage } from '../../language/models/token-usage.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Spent, SpendingOf } from '../../prisma/store/contract/models/spending-contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { type Prices, costOf } from '../../world/models/records/facts.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

/** As the details of a failure have it; `usd` is null where nobody knows the price. */
export function spentIn(usage: TokenUsage, prices: Prices | null): JsonObject {
  return { tokens: tokensOf(usage), usd: costOf(usage, prices), usage: { ...usage } };
}

/**
 * Keeps what a request cost that failed. Where it was cut off (`cut`) before anything came, nobody has heard what it
 * cost: its row goes on saying so.
 */
export async function keepFailed(
  store: Pick<Store, 'spending'>,
  of: SpendingOf,
  error: unknown,
  cut: JsonObject = {},
): Promise<void> {
  const isCut = !(error instanceof Failure) || error.code === 'STEP_TIMEOUT';
  const details = isCut ? cut : (error.details ?? {});
  const { provider, model, spent } = details;
  if (isCut && spent === undefined) return;
  const isKnown = typeof provider === 'string' && provider !== '' && typeof model === 'string';
  await store.spending.failed(of, {
    model: isKnown ? `${provider}/${model}` : null,
    ...(isJsonObject(spent)
      ? { tokens: { ...NO_USAGE, ...(spent['usage'] as unknown as TokenUsage) }, usd: usdOf(spent) }
      : { tokens: NO_USAGE, usd: 0 }),
  });
  crashPoint('spending.kept', { handle: of.handle, key: of.conversation });
}

const usdOf = ({ usd }: JsonObject): Spent['usd'] => (typeof usd === 'number' ? usd : null);
