/** `sentinel doctor`. */
import type { Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { table } from '../output/table.ts';

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
      const { good, bad, strong } = output.paint;
      const { inspectServices } = await import('../../../services/inspect-services.ts');
      const { ok, entries } = await inspectServices();
      output.object({ ok, entries });
      const rows = entries.map(({ name, ok: fine, found, where, version, port }) => [
        fine ? good('✔') : bad('✖'),
        strong(name),
        version ?? '',
        port === undefined ? '' : String(port),
        found,
        where ?? '',
      ]);
      for (const line of table(['', 'PART', 'VERSION', 'PORT', 'FOUND', 'WHERE'], rows, output.paint))
        output.line(line);
      for (const { name, remedy } of entries) if (remedy !== undefined) output.line(`${bad(name)}: ${remedy}`);
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}
