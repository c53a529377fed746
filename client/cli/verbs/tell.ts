/** `sentinel tell HANDLE TEXT`. */
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';
import { usage } from '../request/usage.ts';
import { withRun } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  step?: string;
  id?: string;
  by?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Tells the model of a step that is under way something: a message of the user before its next turn. A model that was about to end is given one more turn. ' +
        'Exit code 1 when no model step is under way or the run has ended, 2 when the text is empty or too long, 4 when there is no such run.',
    )
    .argument('<handle>', 'the run')
    .argument('<text>', 'what the model is told; - reads it from stdin')
    .option(
      '--step <key>',
      'the model step, where several are under way; behind the keys of nested runs that lead to it',
    )
    .option('--id <id>', 'told once, however often it is said under this id (default: a new one)')
    .option('--by <persona>', 'who tells it (default: the user)')
    .addHelpText(
      'after',
      `
Examples:
  sentinel tell nightly 'leave the tests as they are'
  sentinel tell nightly --step steps.2@1/steps.0@1 'the port is 8080'
  git diff | sentinel tell nightly - --json    {ok, handle, id, step, already}`,
    )
    .action((handle: string, text: string, options: Options) => tell(handle, text, options));
}

async function tell(run: string, given: string, options: Options): Promise<void> {
  const output = openOutput(options);
  const text = given === '-' ? await textOf(process.stdin) : given;
  if (text.trim() === '') throw usage('There is nothing to tell: write the text, or - and send it to stdin.');
  const { step, id, by = process.env['USER'] ?? 'local' } = options;
  await withRun(output, run, async (client, handle) => {
    const told = await client.tell(handle, text, {
      by,
      ...(step === undefined ? {} : { step }),
      ...(id === undefined ? {} : { id }),
    });
    output.object({ ok: true, ...told });
    output.line(
      told.already
        ? `${told.step} of ${told.handle} was told this before (${told.id}).`
        : `${told.step} of ${told.handle} is told before its next turn.`,
    );
  });
}
