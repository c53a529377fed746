/** `sentinel follow HANDLE`. */
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';
import { watchRun } from '../following/watch-run.ts';
import { withRun } from '../runs/run-named.ts';

export function define(command: Command): void {
  command
    .description(
      'Follows a run from anywhere: shows its past steps, and then each further step until it ends. Exit codes are those of "run"; 4 if there is no such run.',
    )
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel follow nightly
  sentinel follow nightly --json    an event a line, then the result`,
    )
    .action(async (given: string, options: { json?: boolean }) => {
      const output = openOutput({ ...options, streams: true });
      process.exitCode = await withRun(output, given, (client, handle) => watchRun(client, handle, output));
    });
}
