/** `sentinel inbox`. */
import type { Command } from 'commander';
import type { InboxItem } from '../../../prisma/store/contract/contract.ts';
import { previewOf } from '../../../language/events/preview.ts';
import { oneLine } from '../../show/trace.ts';
import { howToAnswer } from '../output/question-lines.ts';
import { openOutput, type Output } from '../output/output.ts';
import { withClient } from '../request/with-client.ts';

interface Options {
  json?: boolean;
  persona?: string;
  all?: boolean;
  clear?: boolean;
}

export function define(command: Command): void {
  command
    .description('Shows what personas are asked and were told, newest first.')
    .option('--persona <id>', 'only what is for this persona')
    .option('--all', 'answered, expired and seen items too')
    .option('--clear', 'mark what was only told as seen (default persona: the user)')
    .addHelpText(
      'after',
      `
Examples:
  sentinel inbox
  sentinel inbox --persona ada --json
  sentinel inbox --clear`,
    )
    .action((options: Options) => inbox(options));
}

async function inbox(options: Options): Promise<void> {
  const output = openOutput(options);
  const { persona, all = false } = options;
  await withClient(output, async (client) => {
    if (options.clear === true) {
      const seen = await client.clearInbox(persona ?? process.env['USER'] ?? 'local');
      output.object({ ok: true, seen });
      output.line(`${seen} marked as seen.`);
      return;
    }
    const items = await client.inbox({ all, ...(persona === undefined ? {} : { persona }) });
    output.object(items);
    if (items.length === 0) output.line(all ? 'Nothing was asked or told yet.' : 'Nothing waits for an answer.');
    for (const item of items) show(item, output);
  });
}

function show(item: InboxItem, { line, paint }: Output): void {
  const { handle, id, persona, message, priority, choices, show: shown, form, state, expiresAt, answer } = item;
  const isOpen = state === 'open';
  const mark = isOpen ? paint.warn('?') : paint.dim('·');
  line(`${mark} ${paint.strong(oneLine(message))}  ${paint.dim(`${priority}, for ${persona}, ${state}`)}`);
  if (shown !== null) line(`    ${oneLine(previewOf(shown))}`);
  if (expiresAt !== null && isOpen) line(`    until ${new Date(expiresAt).toISOString()}`);
  if (answer !== null)
    line(`    ${answer.choice} by ${answer.by}${answer.note === null ? '' : `: ${oneLine(answer.note)}`}`);
  for (const text of isOpen ? howToAnswer({ handle, id, choices, form }) : [paint.dim(`${handle} ${id}`)])
    line(`    ${text}`);
}
