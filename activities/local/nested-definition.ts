/** Reads a definition that a step took from a variable; stored ones may be named, as in `sentinel/run`. */
import type { Catalogue } from '../../language/catalogue.ts';
import {
  programOf,
  readNestedDefinition,
  type GivenDefinition,
  type ReadDefinition,
} from '../../language/read/nested-definition.ts';
import { readJsonText } from '../../language/read/text/json-text.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { referredDefinitions } from '../../prisma/store/values/referred-definitions.ts';

export async function readGivenDefinition(
  store: Pick<Store, 'definitions'>,
  catalogue: Catalogue,
  given: GivenDefinition,
): Promise<ReadDefinition> {
  const program = programOf(given.value);
  const parsed = typeof program === 'string' ? readJsonText(program) : undefined;
  const stored = await referredDefinitions(store, parsed?.ok === true ? parsed.value : program);
  // What the run was started with is what its own definition means by a name.
  for (const name of Object.keys(given.library)) stored.delete(name);
  return readNestedDefinition(given, { catalogue, stored: Object.fromEntries(stored) });
}
