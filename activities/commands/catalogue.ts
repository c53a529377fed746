/**
 * The catalogue of the built-in commands. The build writes its value into the command line in place of this
 * module (scripts/build.mjs): a quick verb does not load what commands run with.
 */
import type { Catalogue } from '../../language/catalogue.ts';
import { builtInCommands, createRegistry } from './registry.ts';

export function builtInCatalogue(): Catalogue {
  return createRegistry(builtInCommands()).catalogue;
}
