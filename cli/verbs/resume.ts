/** `sentinel resume HANDLE`. */
import type { Command } from 'commander';
import { control, refuseStopping } from '../runs/control.ts';

export function define(command: Command): void {
  command
    .description(
      'Continues a paused run. Exit code 4 if there is no such run, 1 if it has ended, was told to stop, or a step of a run asks.',
    )
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel resume nightly
  sentinel resume nightly --json`,
    )
    .action(async (handle: string, options: { json?: boolean }) => {
      await control(handle, options, 'continues', async (client, found) =>
        refuseStopping(await client.resume(found), 'resume'),
      );
    });
}
