/** Events of all runs nested in one, by what their handle adds to its own: `steps.2@1`, `steps.2@1/steps.0@1`. */
import type { RunEvent } from '../language/run-event.ts';
import type { SentinelClient } from './client.ts';

export async function nestedEvents(client: Pick<SentinelClient, 'events'>, handle: string, events: readonly RunEvent[]): Promise<Map<string, RunEvent[]>> {
  const nested = new Map<string, RunEvent[]>();
  const waiting = childrenOf('', events);
  for (let under = waiting.shift(); under !== undefined; under = waiting.shift()) {
    const below = await client.events(`${handle}/${under}`);
    nested.set(under, below);
    waiting.push(...childrenOf(`${under}/`, below));
  }
  return nested;
}

function childrenOf(prefix: string, events: readonly RunEvent[]): string[] {
  return events.filter((event) => event.type === 'step-started' && event.step === 'sentinel').map(({ key }) => prefix + key);
}
