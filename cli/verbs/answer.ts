/** `sentinel answer HANDLE [ID] CHOICE`. */
import type { Command } from 'commander';
import { CHOICES, type Choice } from '../../language/events/question.ts';
import { defined } from '../../language/defined.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { standingText } from '../../client/lookup/standing-answer.ts';
import { openOutput } from '../output/output.ts';
import { givenJson } from '../request/given-json.ts';
import { nearestOf } from '../../client/nearest.ts';
import { usage } from '../request/usage.ts';
import { speakerHere, speakerOption } from '../request/speaker.ts';
import { LAST } from '../runs/handles-typed.ts';
import { withRun } from '../runs/run-named.ts';

const DATA_REMEDY = `write it in single quotes: --data '{"name": "value"}'`;

interface Options {
  json?: boolean;
  note?: string;
  data?: string;
  by?: string;
  digest?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Answers a question of a run, or of a run nested in it. The id may be left out if only one question is open. ' +
        'A second answer is refused and shows the first one. Exit code 1 if the answer is refused, another one was given before, or a step of a run answers "approve", "edit", "retry" or "extend"; 4 if there is no such run.',
    )
    .usage('[options] <handle> [id] <choice>')
    .argument('<handle>', 'the run')
    .argument('[words...]', '[ID] CHOICE: the id of the question and one of its choices, as "inbox" shows them')
    .option('--note <text>', 'a reason, stored with the answer')
    .option(
      '--data <json>',
      'data of the answer: the fields of a form; for "edit" the fields of the action to change; for "extend" the amount to grant',
    )
    .addOption(speakerOption('--by <persona>', 'who answers'))
    .option(
      '--digest <hex>',
      'the digest that "inbox show" prints; required to approve a question that lists show only in part',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel answer nightly approve
  sentinel answer nightly steps.2@1 reject --note 'not on a Friday'
  sentinel answer nightly steps.1@1/steps.0@1 edit --data '{"command": "rm -rf build"}'`,
    )
    .action((handle: string, words: string[], options: Options) => answer(handle, words, options));
}

async function answer(given: string, words: readonly string[], options: Options): Promise<void> {
  const output = openOutput(options);
  if (words.length === 0)
    throw usage(
      `"answer" needs a choice behind the handle, such as "sentinel answer ${given === LAST ? '--last' : given} approve"; "sentinel inbox" shows the questions with their choices.`,
    );
  if (words.length > 2)
    throw usage(
      `"answer" takes a handle, at most one id and a choice; quote what belongs together, and write a reason with --note.`,
    );
  const id = words.length === 2 ? words[0] : undefined;
  const { note, digest } = options;
  const data = options.data === undefined ? {} : { data: givenJson('--data', options.data, DATA_REMEDY) };
  const by = await speakerHere(options.by, output);
  await withRun(output, given, async (client, handle) => {
    const choice = await choiceOf(client, handle, id, words.at(-1) ?? '');
    const reply = await client.answer(handle, {
      choice,
      by,
      ...defined({ id, note, digest }),
      ...data,
    });
    output.object({ ok: true, ...reply });
    const { missing } = reply;
    const more = missing === undefined ? '' : `; ${missing} more ${missing === 1 ? 'has' : 'have'} to approve`;
    output.line(
      `${reply.already ? standingText(reply) : `${reply.id} of ${reply.handle}: ${reply.answer.choice}`}${more}.`,
    );
  });
}

/** A word that is no choice at all is refused with the choices of the question. */
async function choiceOf(client: OpenClient, handle: string, id: string | undefined, word: string): Promise<Choice> {
  const choice = CHOICES.find((known) => known === word);
  if (choice !== undefined) return choice;
  const { choices, id: asked } = await client.question(handle, id);
  throw usage(
    `"${word}" is no choice of ${asked}; ${nearestOf(word, choices, (name) => `write "${name}", or `)}choose one of ${choices.join(', ')}.`,
  );
}
