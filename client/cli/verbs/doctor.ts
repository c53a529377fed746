/** `sentinel doctor`. */
import type { Command } from 'commander';
import { entryLines } from '../output/entry-lines.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';

export function define(command: Command): void {
  command
    .description(
      'Shows what was found where, and what to do about each thing that is missing. Exit code 1 when something is. Starts nothing.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel doctor
  sentinel doctor --json    {ok, entries: [{name, ok, found, where, version, port?, remedy?}]}`,
    )
    .action(async (options: { json?: boolean }) => {
      const output = openOutput(options);
      const { inspectServices } = await import('../../../services/inspect-services.ts');
      const { ok, entries } = await inspectServices();
      output.object({ ok, entries });
      for (const line of entryLines(entries, output.paint)) output.line(line);
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}
