/** `sentinel tell HANDLE TEXT`. */
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';
import { usage } from '../request/usage.ts';
import { speakerHere, speakerOption } from '../request/speaker.ts';
import { withRun } from '../runs/run-named.ts';
import { defined } from '../../language/defined.ts';

interface Options {
  json?: boolean;
  step?: string;
  id?: string;
  by?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Sends a user message to the model of a running step, before its next turn. A model that was about to end gets one more turn. ' +
        'Exit code 1 if no model step is running or the run has ended, 2 if the text is empty or too long, 4 if there is no such run.',
    )
    .argument('<handle>', 'the run')
    .argument('<text>', 'the message; - reads it from stdin')
    .option(
      '--step <key>',
      'the model step, if several are running; in a nested run, with the keys that lead to it in front',
    )
    .option('--id <id>', 'an id; a message with the same id is delivered once (default: a new id)')
    .addOption(speakerOption('--by <persona>', 'the author'))
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
  const { step, id } = options;
  const by = await speakerHere(options.by, output);
  await withRun(output, run, async (client, handle) => {
    const told = await client.tell(handle, text, {
      by,
      ...defined({ step, id }),
    });
    output.object({ ok: true, ...told });
    output.line(
      told.already
        ? `${told.step} of ${told.handle} was told this before (${told.id}).`
        : `${told.step} of ${told.handle} is told before its next turn.`,
    );
  });
}
