/**
 * A failure is the world saying no: it belongs to one step, follows the step's `onError`, and only
 * then ends the run. It is data everywhere except inside an activity, where it is thrown as
 * `Failure` (activities/failures/failures.ts).
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
  /** The persona has been asked about it, and let it stand: nobody is asked again. */
  asked?: true;
}

/** What an attempt more cannot change: the definition got it wrong, or a persona decided. */
const PERMANENT: ReadonlySet<string> = new Set([
  'COMMAND_PARAMS_INVALID',
  'UNKNOWN_COMMAND',
  'COMMAND_NOT_BUILT',
  'PATH_OUTSIDE_PROJECT',
  'VALUE_TOO_LARGE',
  'UNKNOWN_DEFINITION',
  'DEFINITION_INVALID',
  'NESTING_TOO_DEEP',
  'MODEL_CONTENT_REFUSED',
  'MODEL_CONTEXT_TOO_LONG',
  'MODEL_NOT_ALLOWED',
  'MODEL_NOT_FOUND',
  'MODEL_REQUEST_REFUSED',
  'MODEL_SPEND_LIMIT',
  'MODEL_UNSUPPORTED',
  'EVENT_NAME_INVALID',
  'EVENT_RESERVED',
  'EXECUTION_NOT_FOUND',
  'APPROVAL_REJECTED',
  'RIGHTS_EXCEEDED',
  'RUN_ABORTED',
]);

/** What a provider refuses until a person has done something about it: no wait and no attempt cures it. */
export const HOLDS: ReadonlySet<string> = new Set(['MODEL_SPEND_LIMIT', 'MODEL_NOT_ALLOWED']);

export const isPermanent = ({ code }: Pick<FailureInfo, 'code'>): boolean => PERMANENT.has(code);

/** A persona ended the run here: no `onError` and no retry stands against it. */
export const isAbort = ({ code }: FailureInfo): boolean => code === 'RUN_ABORTED';
