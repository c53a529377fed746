/** `sentinel transcript HANDLE [KEY]`. */
import type { Command } from 'commander';
import { transcriptLines, transcriptMarkdown } from '../../client/show/transcript.ts';
import { openOutput } from '../output/output.ts';
import { withRun } from '../runs/run-named.ts';

export function define(command: Command): void {
  command
    .description(
      'Shows the conversations of a run with models, turn by turn, with the cost of each turn. Exit code 4 if there is no such run, 2 if the step had no conversation.',
    )
    .argument('<handle>', 'the run')
    .argument(
      '[key]',
      'the key of one model step; in a nested run, with the keys that lead to it in front (steps.2@1/steps.0@1)',
    )
    .option('--markdown', 'print Markdown')
    .addHelpText(
      'after',
      `
Examples:
  sentinel transcript nightly
  sentinel transcript nightly steps.2@1 --markdown > review.md
  sentinel transcript nightly --json    {handle, conversations: [{key, messages, turns, compactions}]}`,
    )
    .action(async (given: string, key: string | undefined, options: { json?: boolean; markdown?: boolean }) => {
      const output = openOutput(options);
      await withRun(output, given, async (client, handle) => {
        const conversations = await client.transcripts(handle, key);
        output.object({ handle, conversations });
        if (options.markdown === true) output.line(`# ${handle}`);
        for (const one of conversations) {
          const lines =
            options.markdown === true ? ['', ...transcriptMarkdown(one)] : transcriptLines(one, output.paint);
          for (const line of lines) output.line(line);
        }
        if (conversations.length === 0) output.note(`${handle} has asked no model`);
      });
    });
}
