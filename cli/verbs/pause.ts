/** `sentinel pause HANDLE`. */
import type { Command } from 'commander';
import { isWithinStep } from '../../client/rights/within-step.ts';
import { control, refuseStopping } from '../runs/control.ts';

export function define(command: Command): void {
  command
    .description(
      'Pauses a run before its next step; the steps under way end first. Exit code 4 if there is no such run, 1 if it has ended or was told to stop.',
    )
    .argument('<handle>', 'the run')
    .option('--reason <text>', 'the reason, shown by "status"')
    .addHelpText(
      'after',
      `
Examples:
  sentinel pause nightly
  sentinel pause nightly --reason 'the build machine is down'`,
    )
    .action((handle: string, options: { json?: boolean; reason?: string }) =>
      control(handle, options, 'is paused', async (client, found) =>
        refuseStopping(
          await client.pause(found, options.reason ?? ((await isWithinStep()) ? 'a step paused it' : undefined)),
          'pause',
        ),
      ),
    );
}
