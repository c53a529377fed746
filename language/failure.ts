/**
 * A failure is the world saying no: it belongs to one step, follows the step's `onError`, and only
 * then ends the run. It is data everywhere except inside an activity, where it is thrown as
 * `Failure` (activities/failures.ts).
 */
import type { JsonObject } from './json.ts';

export interface FailureInfo {
  /** Closed code, e.g. `SHELL_NOT_STARTED`; each has a page in docs/problems/. */
  code: string;
  /** One sentence: place, finding, remedy. */
  message: string;
  /** True when trying again may help. */
  retryable: boolean;
  details?: JsonObject;
}
