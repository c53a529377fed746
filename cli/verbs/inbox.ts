/** `sentinel inbox`, and `sentinel inbox show HANDLE [ID]`. */
import type { Command } from 'commander';
import type { InboxItem, ListedItem } from '../../client/contract/shown.ts';
import { briefLines, valueLines } from '../../language/events/shown-value.ts';
import { defined } from '../../language/defined.ts';
import { ClientError } from '../../client/client.ts';
import { oneLine } from '../../client/show/trace.ts';
import { howToAnswer, howToAnswerSeen } from '../output/question-lines.ts';
import { openOutput, type Output } from '../output/output.ts';
import { noVerbOf } from '../request/subverbs.ts';
import { usage } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { SPEAKER_DEFAULT, speakerHere } from '../request/speaker.ts';
import { withRun } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  persona?: string;
  all?: boolean;
  clear?: boolean;
}

export function define(verb: Command): void {
  verb
    .description('Shows the questions of runs and the messages to personas, newest first.')
    .option('--persona <id>', 'only items for this persona, and questions to those it answers for')
    .option('--all', 'also show answered, expired and seen items')
    .option('--clear', `mark all messages as seen; questions stay open (default persona: ${SPEAKER_DEFAULT})`)
    .argument('[verb]')
    .usage('[show|clear] [options]')
    .allowExcessArguments()
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  sentinel inbox
  sentinel inbox --persona ada --json
  sentinel inbox show nightly steps.2@1
  sentinel inbox --clear`,
    )
    .action((given: string | undefined, options: Options) => {
      if (given !== undefined) throw noVerbOf(verb, given);
      return inbox(options);
    });
  verb
    .command('show')
    .summary('show all of a question, however long it is')
    .description(
      'Shows a question in full, and how to answer it. If lists show only a part of the question, approve it with the digest that is printed at the end. ' +
        'The id may be left out if only one question is open. Exit code 1 if there is no question, 4 if there is no such run.',
    )
    .argument('<handle>', 'the run')
    .argument('[id]', 'the question, as "inbox" shows it')
    .helpOption('-h, --help', 'show this')
    .option('--json', 'print JSON alone on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sentinel inbox show nightly
  sentinel inbox show nightly steps.2@1 --json    {handle, id, message, show, digest, …}`,
    )
    .action((handle: string, id: string | undefined, _options: unknown, self: Command) =>
      showWhole(handle, id, self.optsWithGlobals<Options>()),
    );
  defineClear(verb);
}

function defineClear(verb: Command): void {
  verb
    .command('clear')
    .summary('mark what a run only told as seen')
    .description(
      'Marks the messages of a run as seen, or one of them. Questions stay open. Exit code 4 if there is no such run or message, 2 if the id is that of a question.',
    )
    .argument('<handle>', 'the run')
    .argument('[id]', 'the item, as "inbox" shows it')
    .helpOption('-h, --help', 'show this')
    .option('--json', 'print JSON alone on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sentinel inbox clear nightly
  sentinel inbox clear nightly steps.2@1 --json    {ok, seen}`,
    )
    .action((handle: string, id: string | undefined, _options: unknown, self: Command) =>
      clearOne(handle, id, self.optsWithGlobals<Options>()),
    );
}

async function clearOne(given: string, id: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  await withRun(output, given, async (client, handle) => {
    await client.find(handle);
    if (id !== undefined) {
      const by = await speakerHere(undefined, output);
      refuseUnlessTold(await client.listInbox({ handle, id, all: true }, by), handle, id);
    }
    const seen = await client.clearInbox({ handle, ...defined({ id }) });
    output.object({ ok: true, seen });
    output.line(`${seen} marked as seen.`);
  });
}

/** Nothing happens to an id that is no message's: whoever typed it is told. One that was seen before stays seen. */
function refuseUnlessTold(found: readonly ListedItem[], handle: string, id: string): void {
  const items = found.filter((item) => item.by === null && item.handle === handle);
  if (items.some(({ state }) => state === 'told' || state === 'seen')) return;
  throw items.length === 0
    ? new ClientError(
        'NOT_FOUND',
        `${handle} has no message "${id}"; "sentinel inbox" shows the messages with their ids.`,
      )
    : usage(
        `"${id}" of ${handle} is a question, which only an answer closes; "sentinel inbox show ${handle} ${id}" shows it.`,
      );
}

async function inbox(options: Options): Promise<void> {
  const output = openOutput(options);
  const { persona, all = false } = options;
  await withClient(output, async (client) => {
    if (options.clear === true) {
      const seen = await client.clearInbox({ persona: await speakerHere(persona, output) });
      output.object({ ok: true, seen });
      output.line(`${seen} marked as seen.`);
      return;
    }
    const by = await speakerHere(persona, output);
    const items = await client.listInbox({ all, ...defined({ persona }) }, by);
    output.object(items);
    if (items.length === 0) output.line(all ? 'Nothing was asked or told yet.' : 'Nothing waits for an answer.');
    for (const item of items) showBriefly(item, output);
  });
}

function showBriefly(item: ListedItem, output: Output): void {
  const { line, paint } = output;
  showHead(item, output);
  for (const text of briefLines(item.show)) line(`      ${text}`);
  if (item.by !== null) {
    const { itemId, kind, by, handle, takenBy } = item;
    const from = handle === null ? by : `${by} (run ${handle})`;
    line(paint.dim(`    ${itemId}  ${kind} from ${from}${takenBy === null ? '' : `, with ${takenBy}`}`));
    return;
  }
  const { handle, id, state } = item;
  showTimes(item, output);
  for (const text of state === 'open' ? howToAnswer(item) : [paint.dim(`${handle} ${id}`)]) line(`    ${text}`);
}

function showHead(
  { state, message, priority, persona }: Pick<ListedItem, 'state' | 'message' | 'priority' | 'persona'>,
  { line, paint }: Output,
): void {
  const mark = state === 'open' ? paint.warn('?') : paint.dim('·');
  line(`${mark} ${paint.strong(oneLine(message))}  ${paint.dim(`${priority}, for ${persona}, ${state}`)}`);
}

function showTimes(item: InboxItem, { line }: Output): void {
  const { state, askedAt, expiresAt, reminders, answer, approvers, approvals = [] } = item;
  if (approvers !== undefined && state === 'open')
    line(
      `    ${approvers.atLeast} of ${approvers.of.join(', ')} have to approve${approvals.length === 0 ? '' : `; approved by ${approvals.map(({ by }) => by).join(', ')}`}`,
    );
  if (reminders > 0 && state === 'open')
    line(`    asked ${new Date(askedAt).toISOString()}, reminded ${reminders === 1 ? 'once' : `${reminders} times`}`);
  if (expiresAt !== null && state === 'open') line(`    until ${new Date(expiresAt).toISOString()}`);
  if (answer !== null)
    line(`    ${answer.choice} by ${answer.by}${answer.note === null ? '' : `: ${oneLine(answer.note)}`}`);
}

async function showWhole(given: string, id: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  const { line } = output;
  await withRun(output, given, async (client, handle) => {
    const item = await client.question(handle, id);
    output.object(item);
    showHead(item, output);
    for (const text of item.show === null ? [] : valueLines(item.show)) line(`      ${text}`);
    if (item.form !== null) for (const text of ['its form:', ...valueLines(item.form)]) line(`      ${text}`);
    showTimes(item, output);
    if (item.state === 'open') for (const text of howToAnswerSeen(item)) line(`    ${text}`);
  });
}
