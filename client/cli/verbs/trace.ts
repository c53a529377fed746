/** `sentinel trace HANDLE`. */
import type { Command } from 'commander';
import { nestedEvents } from '../../follow/nested-events.ts';
import { orderEvents, traceLines } from '../../show/trace.ts';
import { openOutput } from '../output/output.ts';
import { withRun } from '../runs/run-named.ts';

export function define(command: Command): void {
  command
    .description(
      'Shows the steps of a run as a tree, in the order of the definition. Exit code 4 when there is no such run.',
    )
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel trace nightly
  sentinel trace nightly --json    {handle, events, nested}`,
    )
    .action(async (given: string, options: { json?: boolean }) => {
      const output = openOutput(options);
      await withRun(output, given, async (client, handle) => {
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
