/** `sentinel trace HANDLE`. */
import type { Command } from 'commander';
import type { Json } from '../../language/json.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { nestedEvents } from '../../client/follow/nested-events.ts';
import { orderEvents, traceLines } from '../../client/show/trace.ts';
import { openOutput } from '../output/output.ts';
import { withRun } from '../runs/run-named.ts';

export function define(command: Command): void {
  command
    .description(
      'Shows the steps of a run as a tree, in the order of the definition. Exit code 4 if there is no such run.',
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
        const data = await client.emitted(handle);
        const emittedIn = (run: string, key: string): Json => data.get(`${run} ${key}`) ?? null;
        const withData = (run: string, all: readonly RunEvent[]): object[] =>
          orderEvents(all).map((event) => {
            const emitted = event.type === 'step-finished' ? emittedIn(run, event.key) : null;
            return emitted === null ? event : { ...event, data: emitted };
          });
        output.object({
          handle,
          events: withData(handle, events),
          nested: [...nested].map(([under, below]) => ({
            handle: `${handle}/${under}`,
            events: withData(`${handle}/${under}`, below),
          })),
        });
        const emitted = ({ key }: RunEvent, under: string): Json =>
          emittedIn(under === '' ? handle : `${handle}/${under}`, key);
        for (const line of traceLines(events, { paint: output.paint, handle, nested, emitted })) output.line(line);
      });
    });
}
