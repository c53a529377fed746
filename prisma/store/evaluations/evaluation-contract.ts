/** Evaluations as the rest of the project sees them. */
import type { JsonObject } from '../../../language/json.ts';

export interface StoredEvaluation {
  /** Part of the handles of its runs. */
  id: string;
  file: string;
  /** The hash of what decides what is run. */
  content: string;
  startedAt: number;
  finishedAt: number | null;
  result: JsonObject | null;
}

export interface Evaluations {
  begin(file: string, content: string): Promise<StoredEvaluation>;
  finish(id: string, result: JsonObject): Promise<void>;
  /** Of a file, the newest first. */
  list(file: string, limit: number): Promise<StoredEvaluation[]>;
}
