/** `sentinel doctor`. */
import type { Command } from 'commander';
import { entryLines } from '../output/entry-lines.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { withClient } from '../request/with-client.ts';

export function define(command: Command): void {
  command
    .description(
      'Shows which programs, servers and settings were found and where, and how to fix what is missing. Starts nothing. Exit code 1 if something is missing.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel doctor
  sentinel doctor --json    {ok, entries: [{name, ok, found, where, version, port?, project?, remedy?}]}`,
    )
    .action(async (options: { json?: boolean }) => {
      const output = openOutput(options);
      const { inspectServices } = await import('../../services/inspect-services.ts');
      const [services, systems] = await Promise.all([
        inspectServices(process.env, workflowIdOf),
        withClient(output, (client) => client.systemEntries(process.cwd())),
      ]);
      const entries = [...services.entries, ...systems];
      const ok = entries.every((entry) => entry.ok);
      output.object({ ok, entries });
      for (const line of entryLines(entries, output.paint)) output.line(line);
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}
