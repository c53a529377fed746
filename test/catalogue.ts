/** What the product passes to whatever reads or runs a definition: the built-in commands. */
import { builtInCatalogue, builtInSettings } from '../systems/catalogue.ts';
import type { BuiltIn } from '../runs/commands/built-in.ts';
import type { Named } from '../world/definitions/definition-files.ts';

export const catalogue = builtInCatalogue();

export const builtIn = (): BuiltIn => ({ catalogue, settings: builtInSettings() });

/** For a definition that stands alone: no other has a name. */
export const NO_FILES: Named = { catalogue, known: () => undefined, refused: () => undefined, near: () => undefined };
