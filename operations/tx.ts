/** The tables of a system, as its commands reach them (command-tx.ts). */
import type { Json } from '../language/json.ts';

export interface Tx {
  /**
   * One statement, with `$1` for the first of `values`, and its rows. A command with the permission `read` asks only
   * `select`. Fails with `STATEMENT_REFUSED` where the database refuses it; what the command had written is gone then.
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** An event of the system, once for each time that a step calls this, however often it is tried. */
  publish(event: string, data?: Json): Promise<void>;
}
