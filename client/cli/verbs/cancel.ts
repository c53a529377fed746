/** `sentinel cancel HANDLE`. */
import type { Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { questionLines } from '../output/question-lines.ts';
import { reportLines } from '../output/report-lines.ts';
import { withClient } from '../request/with-client.ts';

const PATIENCE_MS = 2000;

export function define(command: Command): void {
  command
    .description(
      'Interrupts a run and waits until it has ended, or until its clean-up asks something. Exit code 3 when it asks, 4 when there is no such run, 1 when it had ended before.',
    )
    .argument('<handle>', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel cancel nightly
  sentinel cancel nightly --json`,
    )
    .action(async (handle: string, options: { json?: boolean }) => {
      const output = openOutput(options);
      await withClient(output, async (client) => {
        const patience = setTimeout(
          () => output.note(`sentinel: ${handle} has been told to end; waiting for its steps and its clean-up`),
          PATIENCE_MS,
        );
        const { report, questions } = await client.cancel(handle).finally(() => clearTimeout(patience));
        output.object({ ok: true, ...report, questions });
        if (questions.length > 0) {
          output.line(`${handle} is cleaning up and asks before it ends:`);
          for (const question of questions) for (const line of questionLines(question, output.paint)) output.line(line);
          process.exitCode = EXIT.waiting;
        } else if (report.outcome === null)
          output.line(
            `${handle} has been told to end and has not after a minute: its steps take their time, or no worker serves it (see "sentinel doctor").`,
          );
        for (const line of reportLines(report, output.paint)) output.line(line);
      });
    });
}
