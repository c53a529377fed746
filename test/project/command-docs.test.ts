/** docs/command-reference.md is what the commands state of themselves. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { builtInList, type ListedCommand } from '../../client/lookup/command-list.ts';
import { schemaRows } from '../../language/schema/schema-rows.ts';
import { read, root } from './tree.ts';

test('the reference of commands says what they state now: "npm run build" writes it', async () => {
  const { commandReference } = (await import(pathToFileURL(join(root, 'scripts', 'command-docs.mjs')).href)) as {
    commandReference: (
      commands: readonly ListedCommand[],
      rowsOf: typeof schemaRows,
      failuresOf: (system: string) => string | null,
    ) => string;
  };
  const { failuresOf } = (await import(pathToFileURL(join(root, 'scripts', 'generated.mjs')).href)) as {
    failuresOf: (root: string) => (system: string) => string | null;
  };
  const all = builtInList();
  expect(all.filter(({ description, isPlanned }) => description === null && !isPlanned)).toEqual([]);
  expect(read('docs/command-reference.md')).toBe(commandReference(all, schemaRows, failuresOf(root)));
});
