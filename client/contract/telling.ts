/** What the model of a step is told with, and the reply. */
import type { TellReply } from '../../interpreter/models/telling.ts';

export interface TellOptions {
  /** Who says it. */
  by: string;
  /** Key of the model step, behind the keys of nested runs that lead to it; may be left out where one is under way. */
  step?: string;
  /** Whoever says the same again says it under the same id: it is told once. Default: a new one. */
  id?: string;
}

/** `handle`: the run whose step is told. */
export interface ToldModel extends TellReply {
  handle: string;
}
