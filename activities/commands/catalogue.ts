/**
 * The catalogue of the built-in commands, and what they take. The build writes the values into the command line in place of this
 * module (scripts/build.mjs): a quick verb does not load what commands run with.
 */
import type { Catalogue } from '../../language/catalogue.ts';
import type { ParamSchemas } from '../../language/params/schema-params.ts';
import { parameterSchemaOf } from './parameters.ts';
import { builtInCommands, createRegistry } from './registry.ts';

export function builtInCatalogue(): Catalogue {
  return createRegistry(builtInCommands()).catalogue;
}

/** By command, as JSON Schema. */
export function builtInParameters(): ParamSchemas {
  return Object.fromEntries(builtInCommands().map((command) => [command.name, parameterSchemaOf(command)]));
}
