/** `sentinel down`. */
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';
import { Progress } from '../request/with-client.ts';

export function define(command: Command): void {
  command
    .description(
      'Stops the services that Sentinel started. Steps under way may end first, for up to a minute (SENTINEL_GRACE_SECONDS); ' +
        'Ctrl-C interrupts them. Runs continue when the services are up again.',
    )
    .option('--keep', 'let the commands that shell steps are running go on: the next "sentinel up" takes them over')
    .addHelpText(
      'after',
      `
Examples:
  sentinel down
  sentinel down --keep
  sentinel down --json`,
    )
    .action((options: Options) => down(options));
}

interface Options {
  json?: boolean;
  keep?: boolean;
}

async function down(options: Options): Promise<void> {
  const output = openOutput(options);
  const { stopServices } = await import('../../services/stop-services.ts');
  const progress = new Progress(output);
  const hurry = new AbortController();
  const interrupt = (): void => {
    progress.say('ending the steps under way now');
    hurry.abort();
  };
  process.once('SIGINT', interrupt);
  const say = (text: string): void =>
    progress.say(text.startsWith('waiting for ') ? `${text}; Ctrl-C ends them now` : text);
  try {
    const stopped = await stopServices({
      onProgress: say,
      hurry: hurry.signal,
      keepsProcesses: options.keep === true,
    });
    progress.end();
    output.object({ ok: true, stopped });
    output.line(stopped.length === 0 ? 'Nothing was running.' : `Stopped ${stopped.join(', ')}.`);
  } finally {
    progress.end();
    process.off('SIGINT', interrupt);
  }
}
