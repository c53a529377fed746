/** How a circuit breaker stands, in words. */
import type { CircuitState } from '../prisma/store/contract/models/limit-contract.ts';

export function circuitWords({ state, failures, openUntil, finding }: CircuitState): string {
  const until = openUntil === null ? '' : new Date(openUntil).toISOString();
  const held = state === 'open' ? `not called until ${until}` : 'the next request tests whether it answers again';
  return `${state === 'closed' ? 'called as usual' : held}, after ${failures} failures in a row: ${finding}`;
}
