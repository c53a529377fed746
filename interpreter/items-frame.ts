/** Where a parallel step over a list stands. */
import type { Json } from '../language/json.ts';

/** How far a parallel step has come with its list; `branches` beside it are the items under way, and those that failed. */
export interface ItemsFrame {
  /** Items that have begun. */
  begun: number;
  count: number;
  /** Of the results so far, as JSON. */
  bytes: number;
  /** They are more than are kept, and the run was told. */
  cut?: true;
  /** What the items that ended set, or how they failed, by their place in the list; null of the others. */
  results: Json[];
  /** Results of items that ended before stay with the run (list-portions.ts). */
  areElsewhere?: true;
  /** Items whose results say how they failed, from 1 on. */
  failed?: number[];
  /** Items that are performed once more, from 1 on: before those that have not begun. */
  again?: number[];
  /** Of how many items the results are those of the run that this one goes on from. */
  retraced?: number;
}
