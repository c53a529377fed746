/** `sentinel schema`: the format as a JSON Schema, for editors and other programs. */
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';

export function define(command: Command): void {
  command
    .description(
      'Prints the JSON Schema of definitions (draft 2020-12). The file sentinels/sentinel.schema.json has the same text.',
    )
    .addHelpText(
      'after',
      `
If a definition names the schema, editors complete and check the file:
  { "$schema": "./sentinel.schema.json", "name": "…", … }

Examples:
  sentinel schema > sentinel.schema.json`,
    )
    .action(async () => {
      const [{ schemaText }, { builtInCatalogue, builtInParameters }] = await Promise.all([
        import('../../language/schema/definition-schema.ts'),
        import('../../systems/catalogue.ts'),
      ]);
      // The text is JSON, with or without --json.
      openOutput({}).text(schemaText(builtInCatalogue(), builtInParameters()));
    });
}
