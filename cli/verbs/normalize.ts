/** `sentinel normalize FILE`: a definition in any dialect, in its canonical form. Needs no services. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { problemLines } from '../../client/show/problem-lines.ts';

export function define(command: Command): void {
  command
    .description(
      'Prints a definition of any dialect in its canonical form. Problems and inferred values go to stderr. Exit code 0 if there is no error, 2 otherwise.',
    )
    .argument('<file>', 'the file of a definition')
    .addHelpText(
      'after',
      `
Examples:
  sentinel normalize pipeline.json
  sentinel normalize pipeline.json > sentinels/pipeline.json
  sentinel normalize --json pipeline.json    {ok, definition, problems, inferred}`,
    )
    .action(async (file: string, { json }: { json?: boolean }) => {
      process.exitCode = await normalize(file, openOutput({ json }));
    });
}

async function normalize(file: string, output: Output): Promise<number> {
  const [{ filesAround }, { readDefinitionFile }, { inOrder }, { commandsIn }] = await Promise.all([
    import('../../client/read-definition.ts'),
    import('../../world/definitions/definition-files.ts'),
    import('../../language/read/key-order.ts'),
    import('../request/project-config.ts'),
  ]);
  const path = resolve(file);
  const { definition, ...rest } = readDefinitionFile(path, filesAround(path, await commandsIn(process.cwd(), output)));
  const { problems, inferred } = rest;
  const canonical = definition === null ? null : inOrder(definition);
  output.object({ ok: canonical !== null, ...(canonical === null ? {} : { definition: canonical }), ...rest });
  if (canonical !== null) output.text(`${JSON.stringify(canonical, null, 2)}\n`);
  const notes = [...problemLines(problems, output.paint), ...inferred.map((text) => `  inferred: ${text}`)];
  if (notes.length > 0) for (const line of [`${file}:`, ...notes]) output.note(line);
  return canonical === null ? EXIT.usage : EXIT.ok;
}
