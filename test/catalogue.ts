/** What the product passes to whatever reads or runs a definition: the built-in commands. */
import { builtInCatalogue } from '../systems/catalogue.ts';
import type { Named } from '../client/read-definition.ts';

export const catalogue = builtInCatalogue();

/** For a definition that stands alone: no other has a name. */
export const NO_FILES: Named = { catalogue, known: () => undefined, refused: () => undefined, near: () => undefined };
