/** The tables that systems bring, and how far their followers of events have come. */

/** SQL by name, in the order in which it is applied: once it has been, it never changes. */
export interface Tables {
  readonly [name: string]: string;
}

/** What is wrong with the tables of a system; all of what failed was undone. */
export class TablesRefused extends Error {
  override readonly name = 'TablesRefused';
}

export interface SystemTables {
  /** Applies what has not been applied; the names of that. Throws `TablesRefused`. */
  apply(system: string, tables: Tables): Promise<string[]>;
  /** Those whose tables there are. */
  list(): Promise<string[]>;
}
