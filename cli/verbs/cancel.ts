/** `sentinel cancel HANDLE`. */
import type { Command } from 'commander';
import type { Cancelled, Forced, ForcedRun } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { questionLines } from '../output/question-lines.ts';
import { reportLines } from '../output/report-lines.ts';
import { speakerHere } from '../request/speaker.ts';
import { withRun } from '../runs/run-named.ts';
import { defined } from '../../language/defined.ts';

const PATIENCE_MS = 2000;

interface Options {
  json?: boolean;
  force?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Interrupts a run, and waits until it has ended or until its clean-up asks a question. Exit code 3 if it asks, 4 if there is no such run, 1 if it had ended before. ' +
        'If a run does not react to a cancellation, because its workflow task fails again and again or no worker serves it, end it with --force: this terminates its workflow and those of its nested runs, without clean-up, ' +
        'marks the run as cancelled, withdraws its questions and ends its processes.',
    )
    .argument('<handle>', 'the run')
    .option('--force', 'end it now, without its clean-up')
    .addHelpText(
      'after',
      `
Examples:
  sentinel cancel nightly
  sentinel cancel nightly --json
  sentinel cancel nightly --force --json    the report, with forced: {runs: [{handle, workflow, row, questions, steps}], processes: {ended, left}}`,
    )
    .action(async (given: string, options: Options) => {
      const output = openOutput(options);
      await withRun(output, given, async (client, handle) => {
        const cancelled = await cancel(client, handle, options, output);
        const { report, questions, forced } = cancelled;
        output.object({ ok: true, ...report, questions, ...defined({ forced }) });
        tell(handle, cancelled, output);
      });
    });
}

async function cancel(client: OpenClient, handle: string, { force }: Options, output: Output): Promise<Cancelled> {
  if (force === true) return client.cancel(handle, { force, by: await speakerHere(undefined, output) });
  let patience: NodeJS.Timeout | undefined;
  const note = (): void =>
    output.note(`sentinel: ${handle} has been told to end; waiting for its steps and its clean-up`);
  const whenTold = (): void => void (patience = setTimeout(note, PATIENCE_MS));
  return client.cancel(handle, { whenTold }).finally(() => clearTimeout(patience));
}

function tell(handle: string, { report, questions, forced }: Cancelled, output: Output): void {
  if (forced !== undefined) for (const line of forcedLines(handle, forced)) output.line(line);
  else if (questions.length > 0) {
    output.line(`${handle} is cleaning up and asks before it ends:`);
    for (const question of questions) for (const line of questionLines(question, output.paint)) output.line(line);
    process.exitCode = EXIT.waiting;
  } else if (report.outcome === null)
    output.line(
      `${handle} has been told to end and has not after a minute: its steps take their time, or no worker serves it (see "sentinel doctor"). "sentinel cancel ${handle} --force" ends it without its clean-up.`,
    );
  for (const line of reportLines(report, output.paint)) output.line(line);
}

function forcedLines(handle: string, { runs, processes }: Forced): string[] {
  const { ended, left } = processes;
  return [
    `${handle} was ended by force:`,
    ...runs.map((run) => `  ${run.handle}: ${whatWasDone(run)}`),
    ...(ended === 0 ? [] : [`  the processes of ${counted(ended, 'step')} ended`]),
    ...left.map(
      ({ executionId, key, handle: run, worker }) =>
        `  left: ${executionId} (${key} of ${run}), owned by ${worker === '' ? 'no worker' : `the worker ${worker}`}; the next worker on its host ends it`,
    ),
  ];
}

const WORKFLOWS: Record<ForcedRun['workflow'], string> = {
  terminated: 'its workflow was terminated',
  'had ended': 'its workflow had ended',
  unknown: 'Temporal knows no workflow of it',
};

const ROWS: Record<ForcedRun['row'], string> = {
  settled: 'its row was settled',
  'had ended': 'its row had ended',
  none: 'it has no row',
};

function whatWasDone({ workflow, row, questions, steps }: ForcedRun): string {
  return [
    WORKFLOWS[workflow],
    ROWS[row],
    ...(steps === 0 ? [] : [`${counted(steps, 'step')} under way cut`]),
    ...(questions === 0 ? [] : [`${counted(questions, 'question')} withdrawn`]),
  ].join(', ');
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
