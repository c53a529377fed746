/** `sentinel cancel HANDLE`. */
import type { Command } from 'commander';
import { openOutput } from '../output.ts';
import { reportLines } from '../report-lines.ts';
import { withClient } from '../with-client.ts';

export function define(command: Command): void {
  command
    .description('Interrupts a run and waits until it has ended. Exit code 4 when there is no such run, 1 when it had ended before.')
    .argument('<handle>', 'the run')
    .addHelpText('after', `
Examples:
  sentinel cancel nightly
  sentinel cancel nightly --json`)
    .action(async (handle: string, options: { json?: boolean }) => {
      const output = openOutput(options);
      await withClient(output, async (client) => {
        const report = await client.cancel(handle);
        output.object({ ok: true, ...report });
        if (report.outcome === null) output.line(`${handle} has been told to end and has not after a minute: its steps take their time, or no worker serves it (see "sentinel doctor").`);
        for (const line of reportLines(report, output.paint)) output.line(line);
      });
    });
}
