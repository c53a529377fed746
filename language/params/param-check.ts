/** Holding the parameters of a command against what it takes, before it is asked for anything. */
import type { JsonObject } from '../json.ts';

/** Something wrong with a parameter; the codes are those of problems. */
export interface ParamFault {
  code: 'MISSING_KEY' | 'UNKNOWN_KEY' | 'WRONG_TYPE' | 'WRONG_VALUE';
  /** From the parameters on. */
  path: readonly string[];
  /** What was found, or what is taken. */
  message: string;
  /** Of a key that is not taken: those that are. */
  taken?: readonly string[];
}

/** Empty for a command that nothing is known of. */
export type ParamCheck = (command: string, params: JsonObject) => readonly ParamFault[];
