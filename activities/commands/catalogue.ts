/**
 * The catalogue of the built-in commands, and the JSON Schemas of what they take. The build writes their values into the command line in place of this
 * module (scripts/build.mjs): a quick verb does not load what commands run with.
 */
import type { Catalogue } from '../../language/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';
import { checkedParametersOf } from './parameters.ts';
import { builtInCommands, createRegistry } from './registry.ts';

export function builtInCatalogue(): Catalogue {
  return createRegistry(builtInCommands()).catalogue;
}

export function builtInParameters(): { readonly [command: string]: JsonObject } {
  return Object.fromEntries(builtInCommands().map((command) => [command.name, checkedParametersOf(command)]));
}
