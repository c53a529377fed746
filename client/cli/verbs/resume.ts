/** `sentinel resume HANDLE`. */
import type { Command } from 'commander';
import { control, refuseStopping } from '../runs/control.ts';

export function define(command: Command): void {
  command
    .description(
      'Lets a held run go on. Exit code 4 when there is no such run, 1 when it has ended or was told to stop.',
    )
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel resume nightly
  sentinel resume nightly --json`,
    )
    .action((handle: string, options: { json?: boolean }) =>
      control(handle, options, 'goes on', async (client, found) =>
        refuseStopping(await client.resume(found), 'resume'),
      ),
    );
}
