/** How a circuit breaker stands, in words. */
import type { CircuitState } from '../prisma/store/contract/models/limit-contract.ts';

export function circuitWords({ state, failures, openUntil, finding }: CircuitState): string {
  const until = openUntil === null ? '' : new Date(openUntil).toISOString();
  const held = state === 'open' ? `left alone until ${until}` : 'the next request finds out whether it answers again';
  return `${state === 'closed' ? 'asked as usual' : held}, after ${failures} failures in a row: ${finding}`;
}
