/**
 * What a client is told when it cannot have what it asked for: a closed code, and one sentence that
 * names the finding and the remedy.
 */
import type { EditRefusal } from '../interpreter/edits.ts';
import type { TellRefusal } from '../interpreter/models/telling.ts';
import type { EventFault } from '../language/events/reserved-events.ts';
import type { JsonObject } from '../language/json.ts';

export type ClientErrorCode =
  | 'USAGE'
  | 'DEFINITION_INVALID'
  | 'DEFINITION_NOT_FOUND'
  | 'INPUT_REFUSED'
  | 'POLICY_INVALID'
  | 'HANDLE_TAKEN'
  | 'HANDLE_AMBIGUOUS'
  | 'RUN_NOT_FOUND'
  | 'NOT_FOUND'
  | 'RUN_ENDED'
  | 'HELD_AT_LIMIT'
  | 'RIGHTS_EXCEEDED'
  | 'RUN_LOST'
  | 'QUESTION_UNKNOWN'
  | 'ANSWER_REFUSED'
  | 'ANSWERED_ALREADY'
  | 'NO_ANSWER'
  | 'NOT_SEALED'
  | EditRefusal['code']
  | TellRefusal['code']
  | EventFault['code']
  | 'FORK_KEY_NOT_REACHED'
  | 'FORK_DEFINITION_DIFFERS'
  | 'FORK_REFUSED'
  | 'HISTORY_MISSING'
  | 'HISTORY_DIVERGES'
  | 'UNDO_REFUSED'
  | 'COMMAND_FAILED'
  | 'SETTINGS'
  | 'SERVICES'
  | 'STORE_UNAVAILABLE'
  | 'SANDBOX_NOT_AVAILABLE'
  | 'BUG';

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  /** What the sentence says, as values. */
  readonly details?: JsonObject;

  constructor(code: ClientErrorCode, message: string, options: { cause?: unknown; details?: JsonObject } = {}) {
    const { details, ...rest } = options;
    super(message, rest);
    this.code = code;
    if (details !== undefined) this.details = details;
  }
}

/** What was handed over cannot be taken: the sentence of a finding of the language. */
export function refuseFault(fault: { code: ClientErrorCode; message: string } | null): void {
  if (fault !== null) throw new ClientError(fault.code, `${fault.message}.`);
}
