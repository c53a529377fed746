/** `sentinel resume HANDLE`. */
import type { Command } from 'commander';
import { control, refuseStopping } from '../runs/control.ts';

export function define(command: Command): void {
  command
    .description('Continues a paused run. Exit code 4 if there is no such run, 1 if it has ended or was told to stop.')
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel resume nightly
  sentinel resume nightly --json`,
    )
    .action((handle: string, options: { json?: boolean }) =>
      control(handle, options, 'continues', async (client, found) =>
        refuseStopping(await client.resume(found), 'resume'),
      ),
    );
}
