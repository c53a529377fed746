/** `sentinel down`. */
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';
import { Progress } from '../request/with-client.ts';

export function define(command: Command): void {
  command
    .description(
      'Stops the services that were started here. Runs go on from where they stood when the services are up again.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel down
  sentinel down --json`,
    )
    .action(async (options: { json?: boolean }) => {
      const output = openOutput(options);
      const { stopServices } = await import('../../../services/ensure-services.ts');
      const progress = new Progress(output);
      const stopped = await stopServices({ onProgress: (text) => progress.say(text) }).finally(() => progress.end());
      output.object({ ok: true, stopped });
      output.line(stopped.length === 0 ? 'Nothing was running.' : `Stopped ${stopped.join(', ')}.`);
    });
}
