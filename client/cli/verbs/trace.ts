/** `sentinel trace HANDLE`. */
import type { Command } from 'commander';
import type { RunEvent } from '../../../language/run-event.ts';
import type { SentinelClient } from '../../client.ts';
import { orderEvents, traceLines } from '../../trace.ts';
import { openOutput } from '../output.ts';
import { withClient } from '../with-client.ts';

export function define(command: Command): void {
  command
    .description('Shows the steps of a run as a tree, in the order of the definition. Exit code 4 when there is no such run.')
    .argument('<handle>', 'the run')
    .addHelpText('after', `
Examples:
  sentinel trace nightly
  sentinel trace nightly --json    {handle, events, nested}`)
    .action(async (handle: string, options: { json?: boolean }) => {
      const output = openOutput(options);
      await withClient(output, async (client) => {
        await client.find(handle);
        const events = await client.events(handle);
        const nested = await nestedEvents(client, handle, events);
        output.object({
          handle,
          events: orderEvents(events),
          nested: [...nested].map(([under, below]) => ({ handle: `${handle}/${under}`, events: orderEvents(below) })),
        });
        for (const line of traceLines(events, { paint: output.paint, nested })) output.line(line);
      });
    });
}

/** Events of all nested runs, by what their handle adds to this one's. */
async function nestedEvents(client: SentinelClient, handle: string, events: readonly RunEvent[]): Promise<Map<string, RunEvent[]>> {
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
