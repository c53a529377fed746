/** `sentinel fork HANDLE --at KEY`: a new run from any step of an old one. */
import type { Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { forkOptions, forkRequest, startFork, type ForkOptions } from '../runs/fork-request.ts';
import { usage } from '../request/usage.ts';
import { withRun } from '../runs/run-named.ts';

interface Options extends ForkOptions {
  at?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Starts a new run from a step of an old one, with the results so far: earlier steps are not repeated. ' +
        'The old run does not change. Follows the new run, with the exit codes of "run"; also 2 if the old run never reached the step, 4 if there is no such run.',
    )
    .argument('<handle>', 'the old run; a nested run can be forked by its own handle')
    .option('--at <key>', 'the step to begin with, as "sentinel trace" and the Web UI name it: steps.2@1');
  forkOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  sentinel fork nightly --at steps.2@1
  sentinel fork nightly --at steps.4@3 --set attempts=0 --set 'plan={"files": []}'
  sentinel fork nightly --at steps.4@3 --edit nightly.json --id nightly-2
  sentinel fork nightly --at steps.2@1/turn.3    the conversation up to turn 3 of a model step
  sentinel fork nightly/steps.2@1 --at steps.0@2 --detach --json    the report, with origin {type, of, at}`,
    )
    .action(async (handle: string, options: Options) => {
      process.exitCode = await fork(handle, options);
    });
}

async function fork(given: string, options: Options): Promise<number> {
  const output = openOutput({ ...options, streams: true });
  const { at } = options;
  if (at === undefined)
    throw usage(`fork needs the step to begin with: --at KEY; "sentinel trace ${given}" shows the steps of the run.`);
  const request = await forkRequest(options, output);
  if (request === null) return EXIT.usage;
  return withRun(output, given, (client, handle) => startFork(client, { ...request, handle, at }, options, output));
}
