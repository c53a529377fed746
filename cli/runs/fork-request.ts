/** What the verbs that fork a run have in common: their options, and the start of the new run. */
import type { Command } from 'commander';
import type { OpenClient } from '../../client/open-client.ts';
import type { ForkRequest } from '../../client/history/fork-run.ts';
import { againWords } from '../../client/show/trace-words.ts';
import { watchRun } from '../following/watch-run.ts';
import { EXIT } from '../output/exit-codes.ts';
import type { Output } from '../output/output.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { readGoodDefinition } from '../request/good-definition.ts';
import { handleFor, readInputs } from '../request/run-request.ts';
import { personaOption } from '../request/speaker.ts';
import { repeatable } from '../request/usage.ts';
import { defined } from '../../language/defined.ts';

export interface ForkOptions {
  json?: boolean;
  set: string[];
  edit?: string;
  id?: string;
  persona?: string;
  host?: string;
  policy?: string;
  detach?: boolean;
}

export function forkOptions(command: Command): Command {
  return command
    .addOption(
      repeatable(
        '--set <name=value>',
        'set a variable before the run begins; a value that is not JSON is text (repeatable)',
      ),
    )
    .option('--edit <file>', 'continue with this definition; steps that are open at that point must keep their places')
    .option('--id <handle>', 'the handle of the new run (default: a new one)')
    .addOption(personaOption('--persona <id>', "who the new run belongs to (default: the old run's)"))
    .option('--host <name>', 'run on the workers of this host (default: where the old run ran)')
    .addOption(policyOption('rules besides those of the old run'))
    .option('--detach', 'print the handle and return');
}

/** The request without the place where the new run begins; null if the definition has problems, which have been shown. */
export async function forkRequest(
  options: ForkOptions,
  output: Output,
): Promise<Omit<ForkRequest, 'handle' | 'at'> | null> {
  const { edit, id, persona, host } = options;
  const { policy } = policyGiven(options.policy);
  const set = readInputs(undefined, options.set, '--set');
  const as = id === undefined ? undefined : handleFor(id);
  const edited = edit === undefined ? undefined : await readGoodDefinition(edit, output);
  if (edited === null) return null;
  return {
    set,
    ...defined({ as, persona, host, policies: policy && [policy] }),
    ...(edited === undefined ? {} : { definition: edited.definition, known: edited.known }),
  };
}

export async function startFork(
  client: OpenClient,
  request: ForkRequest,
  { detach }: ForkOptions,
  output: Output,
): Promise<number> {
  const { project } = await client.find(request.handle);
  const [{ forkRun }, { ownBundle }, parts] = await Promise.all([
    import('../../client/history/fork-run.ts'),
    import('../../runs/bundle.ts'),
    client.parts(undefined, project),
  ]);
  const { handle, of, at, items } = await forkRun(
    parts,
    await ownBundle(),
    request,
    await client.events(request.handle),
  );
  const isItsTurn = ['/turn.', '#'].some((mark) => request.at.startsWith(`${at}${mark}`));
  if (at !== request.at && !isItsTurn) {
    output.note(
      `sentinel: ${request.at} ran in one stretch of quick steps that begins with ${at}, so the new run begins there and those steps run again.`,
    );
  }
  for (const list of items ?? []) output.note(`sentinel: ${againWords(list, request.handle)}`);
  if (detach !== true) return watchRun(client, handle, output);
  output.object({
    ...(await client.status(handle)),
    origin: { type: 'fork', of, at, ...defined({ items }) },
  });
  output.line(handle);
  return EXIT.ok;
}
