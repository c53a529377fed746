/** `sentinel stop HANDLE`. */
import type { Command } from 'commander';
import { control } from '../runs/control.ts';

export function define(command: Command): void {
  command
    .description(
      'Ends a run after the steps under way; "cancel" interrupts them. Exit code 4 if there is no such run, 1 if it has ended.',
    )
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel stop nightly
  sentinel stop nightly --json`,
    )
    .action((handle: string, options: { json?: boolean }) =>
      control(handle, options, 'ends after the steps under way', (client, found) => client.stop(found)),
    );
}
