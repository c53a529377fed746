/** `sentinel status HANDLE`. */
import type { Command } from 'commander';
import { entryLines } from '../output/entry-lines.ts';
import { EXIT } from '../output/exit-codes.ts';
import { reportLines } from '../output/report-lines.ts';
import { openOutput, type Output } from '../output/output.ts';
import { oneLine } from '../../client/show/trace.ts';
import { standingOf } from '../../client/lookup/run-standing.ts';
import { questionLines } from '../output/question-lines.ts';
import { withRun } from '../runs/run-named.ts';

export function define(command: Command): void {
  command
    .description(
      'Shows the state of a run, or without a handle of the services. Exit code 1 if a service is missing, 4 if there is no such run.',
    )
    .argument('[handle]', 'the run')
    .addHelpText(
      'after',
      `
Examples:
  sentinel status          the servers, the worker, and where webhooks are received
  sentinel status verify-project-7f
  sentinel status nightly --json`,
    )
    .action(async (given: string | undefined, options: { json?: boolean }) => {
      const output = openOutput(options);
      if (given === undefined) return await services(output);
      await withRun(output, given, async (client, handle) => {
        const standing = await standingOf(client, handle);
        const { waiting, questions, queued = [] } = standing;
        output.object(standing);
        for (const line of reportLines(standing, output.paint)) output.line(line);
        for (const { handle: inner, name: called, reason, questions: ids } of waiting) {
          const what =
            ids.length > 0
              ? `for an answer to ${ids.join(', ')}`
              : `because it is paused${reason === null ? '' : ` (${oneLine(reason)}); "sentinel resume ${inner}" continues it`}`;
          output.line(`  ${output.paint.warn('waits')}: the nested run ${called} (${inner}) ${what}`);
        }
        for (const { step, queue, workers } of queued)
          output.line(`  ${output.paint.warn('waits')}: ${step} ${queueWords(queue, workers)}`);
        for (const question of questions) for (const line of questionLines(question, output.paint)) output.line(line);
      });
    });
}

const queueWords = (queue: string, workers: number): string =>
  workers === 0
    ? `for a worker: nobody serves the queue "${queue}"; "sentinel worker --queue ${queue}" does`
    : `for its turn on the queue "${queue}"`;

async function services(output: Output): Promise<void> {
  const { inspectStarted } = await import('../../services/inspect-services.ts');
  const { ok, entries } = await inspectStarted();
  output.object({ ok, entries });
  for (const line of entryLines(entries, output.paint)) output.line(line);
  process.exitCode = ok ? EXIT.ok : EXIT.failed;
}
