/** `sentinel replay HANDLE`: checks whether the code of this version can continue the run and records the same events. */
import type { Command } from 'commander';
import type { EventDifference } from '../../workflows/history/compare-events.ts';
import type { ReplayedRun } from '../../client/replayed-run.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { usage } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { withRun } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  history?: string;
}

const DIFFERENCES_SHOWN_MAX = 20;

export function define(command: Command): void {
  command
    .description(
      "Replays a run's history with the code of this version, without any effect, and reports where this version would decide differently. " +
        'Exit code 0 if it decides the same, 1 if it diverges, 4 if there is no such run.',
    )
    .argument('[handle]', 'the run')
    .option('--history <file>', 'replay the history in this file, as "temporal workflow show --output json" prints it')
    .addHelpText(
      'after',
      `
Examples:
  sentinel replay nightly
  sentinel replay --history nightly.history.json
  sentinel replay nightly --json    {ok, handle, parts: [{runId, events, ok, divergence}], differences}`,
    )
    .action(async (handle: string | undefined, options: Options) => {
      const output = openOutput(options);
      const { history: file } = options;
      if ((handle === undefined) === (file === undefined))
        throw usage('replay takes the handle of a run, or --history FILE; give one of them.');
      const history =
        file === undefined ? null : (await import('../../client/history/history-file.ts')).readHistoryFile(file);
      const report = await (history === null
        ? withRun(output, handle ?? '', async (client, named) => (await replaying()).replayStored(client, named))
        : withClient(output, async (client) => (await replaying()).replayFile(client, history)));
      output.object(report);
      tell(report, output);
      process.exitCode = report.ok ? EXIT.ok : EXIT.failed;
    });
}

const replaying = () => import('../../client/replayed-run.ts');

function tell({ handle, ok, parts, differences }: ReplayedRun, { line, paint }: Output): void {
  for (const { runId, events, divergence } of parts) {
    const head = `${handle}  ${runId ?? ''}  ${events} events`;
    if (divergence === null) {
      line(`${paint.good('same')}      ${head}`);
      continue;
    }
    line(`${paint.bad('diverges')}  ${head}`);
    line(`  ${divergence.eventId === null ? '' : `at event ${divergence.eventId}: `}${divergence.message}`);
  }
  if (differences.length > 0)
    line(
      paint.bad(`the store has ${differences.length === 1 ? 'one event' : `${differences.length} events`} otherwise:`),
    );
  for (const difference of differences.slice(0, DIFFERENCES_SHOWN_MAX)) line(`  ${lineOf(difference)}`);
  if (differences.length > DIFFERENCES_SHOWN_MAX)
    line(`  and ${differences.length - DIFFERENCES_SHOWN_MAX} more; --json has all`);
  if (ok) line(paint.dim('this version can continue the run'));
}

function lineOf({ seq, replayed, stored }: EventDifference): string {
  return `#${seq}  replayed: ${replayed ?? 'nothing'}  stored: ${stored ?? 'nothing'}`;
}
