/** `sentinel retry HANDLE`: a new run from the step at which an old one failed. */
import type { Command } from 'commander';
import { ClientError } from '../../client.ts';
import type { OpenClient } from '../../open-client.ts';
import { failedStep } from '../../history/failed-step.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { forkOptions, forkRequest, startFork, type ForkOptions } from '../runs/fork-request.ts';
import { withRun } from '../runs/run-named.ts';

export function define(command: Command): void {
  command
    .description(
      'Starts a new run from the step at which an old one failed, with the results so far. It is a "fork" that finds the key itself. ' +
        'If the step is inside a nested run, the step that started that run is repeated. ' +
        'The old run does not change. Follows the new run, with the exit codes of "run"; also 1 if the old run has not failed, 4 if there is no such run.',
    )
    .argument('<handle>', 'the run that failed');
  forkOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  sentinel retry nightly
  sentinel retry nightly --set attempts=0
  sentinel retry nightly --edit nightly.json --detach --json    the report, with origin {type, of, at}`,
    )
    .action(async (handle: string, options: ForkOptions) => {
      process.exitCode = await retry(handle, options);
    });
}

async function retry(given: string, options: ForkOptions): Promise<number> {
  const output = openOutput({ ...options, streams: true });
  const request = await forkRequest(options, output);
  if (request === null) return EXIT.usage;
  return withRun(output, given, async (client, handle) => {
    const at = await whereItFailed(client, handle);
    output.note(`sentinel: ${handle} failed at ${at}; the new run begins there.`);
    return startFork(client, { ...request, handle, at }, options, output);
  });
}

async function whereItFailed(client: OpenClient, handle: string): Promise<string> {
  const { outcome, status, limit, failure } = await client.find(handle);
  const elsewhere = `"sentinel fork ${handle} --at KEY" starts a run from any of its steps`;
  if (outcome !== 'failed') {
    const stands = limit === null || limit === 'stop' ? (outcome ?? status) : `${outcome ?? status}: ${limit}`;
    throw new ClientError(
      'FORK_REFUSED',
      `${handle} has not failed (${stands}), so there is nothing to retry; ${elsewhere}.`,
    );
  }
  const at = failedStep(await client.events(handle));
  if (at !== null) return at;
  throw new ClientError(
    'FORK_REFUSED',
    `No step of ${handle} failed: it ended with ${failure?.code ?? 'a failure of its own'}; ${elsewhere}.`,
  );
}
