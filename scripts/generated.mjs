// What the build writes from what the commands state: the types of the builder, the JSON Schema of definitions and the
// reference of commands. None of it is committed, so that a command stands in the folder of its system alone.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commandReference } from './command-docs.mjs';
import { commandTypes, NO_COMMANDS } from './command-types.mjs';

const TYPES = join('authoring', 'builder', 'built-in-commands.ts');

/** The words on the failures of a system; null where it has none of its own. */
export const failuresOf = (root) => (system) => {
  const path = join(root, 'systems', system, 'failures.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
};

/** So that the sources compile before anybody knows a command. */
export function beginTypes(root) {
  if (!existsSync(join(root, TYPES))) writeFileSync(join(root, TYPES), NO_COMMANDS);
}

/** From the compiled sources in dist/; true where the types are others than those that these were compiled with. */
export async function writeGenerated(root) {
  const built = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
  const { builtInCatalogue, builtInParameters } = await built('systems/catalogue.js');
  const { SCHEMA_FILE, schemaText } = await built('language/schema/definition-schema.js');
  const { builtInList } = await built('client/lookup/command-list.js');
  const { schemaRows } = await built('language/schema/schema-rows.js');
  writeIfChanged(join(root, SCHEMA_FILE), `${schemaText(builtInCatalogue(), builtInParameters())}`);
  writeIfChanged(
    join(root, 'docs', 'command-reference.md'),
    commandReference(builtInList(), schemaRows, failuresOf(root)),
  );
  return writeIfChanged(join(root, TYPES), await commandTypes(builtInParameters()));
}

function writeIfChanged(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  writeFileSync(path, text);
  return true;
}
