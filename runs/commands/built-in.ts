/** What comes with the engine, for whoever reads what a project adds to it. */
import type { Catalogue } from '../../language/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';

export interface BuiltIn {
  catalogue: Catalogue;
  /** Of every system by its name: what its settings may say, as JSON Schema; null where it has none. */
  settings: { readonly [system: string]: JsonObject | null };
}
