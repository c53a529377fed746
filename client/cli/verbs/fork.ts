/** `sentinel fork HANDLE --at KEY`: a new run from any step of an old one. */
import type { Command } from 'commander';
import type { SentinelClient } from '../../client.ts';
import type { ForkRequest } from '../../history/fork-run.ts';
import { EXIT } from '../output/exit-codes.ts';
import { readGoodDefinition } from '../request/good-definition.ts';
import { openOutput, type Output } from '../output/output.ts';
import { handleFor, readInputs } from '../request/run-request.ts';
import { usage } from '../request/usage.ts';
import { watchRun } from '../following/watch-run.ts';
import { withClient } from '../request/with-client.ts';

interface Options {
  json?: boolean;
  at?: string;
  set: string[];
  edit?: string;
  id?: string;
  persona?: string;
  host?: string;
  detach?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Starts a new run from a step of an old one, with the results so far: what was done before that step is not done again. ' +
        'The old run stays as it is. Follows the new run, with the exit codes of "run"; 2 when the old run never came to the step, 4 when there is no such run.',
    )
    .argument('<handle>', 'the old run; a nested run can be forked by its own handle')
    .option('--at <key>', 'the step to begin with, as "sentinel trace" and the Web UI name it: steps.2@1')
    .option(
      '--set <name=value>',
      'a variable as it is to be; JSON is a value, anything else text (repeatable)',
      (given: string, all: string[]) => [...all, given],
      [],
    )
    .option(
      '--edit <file>',
      'the definition to go on with; the steps that are open at that point must stand where they stood',
    )
    .option('--id <handle>', 'the handle of the new run (default: a new one)')
    .option('--persona <id>', "who the new run belongs to (default: the old run's)")
    .option('--host <name>', 'run on the workers of this host (default: where the old run ran)')
    .option('--detach', 'print the handle and return')
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

async function fork(handle: string, options: Options): Promise<number> {
  const output = openOutput({ ...options, streams: true });
  const { at, edit, id, persona, host } = options;
  if (at === undefined)
    throw usage(`fork needs the step to begin with: --at KEY; "sentinel trace ${handle}" shows the steps of the run.`);
  const set = readInputs(undefined, options.set, '--set');
  const as = id === undefined ? undefined : handleFor(id);
  const edited = edit === undefined ? undefined : await readGoodDefinition(edit, output);
  if (edited === null) return EXIT.usage;
  const request: ForkRequest = {
    handle,
    at,
    set,
    ...(as === undefined ? {} : { as }),
    ...(persona === undefined ? {} : { persona }),
    ...(host === undefined ? {} : { host }),
    ...(edited === undefined ? {} : { definition: edited.definition, known: edited.known }),
  };
  return withClient(output, (client) => start(client, request, options, output));
}

async function start(
  client: SentinelClient,
  request: ForkRequest,
  { detach }: Options,
  output: Output,
): Promise<number> {
  const { project } = await client.find(request.handle);
  const [{ forkRun }, { ownBundle }, parts] = await Promise.all([
    import('../../history/fork-run.ts'),
    import('../../history/bundle.ts'),
    client.parts(undefined, project),
  ]);
  const { handle, of, at } = await forkRun(parts, await ownBundle(), request, await client.events(request.handle));
  const isItsTurn = ['/turn.', '#'].some((mark) => request.at.startsWith(`${at}${mark}`));
  if (at !== request.at && !isItsTurn) {
    output.note(
      `sentinel: ${request.at} ran in one stretch of quick steps that begins with ${at}, so the new run begins there and those steps run again.`,
    );
  }
  if (detach !== true) return watchRun(client, handle, output);
  output.object({ ...(await client.status(handle)), origin: { type: 'fork', of, at } });
  output.line(handle);
  return EXIT.ok;
}
