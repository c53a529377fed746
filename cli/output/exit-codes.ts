/** Exit codes are API: scripts and checks are written against them. */
import type { ClientErrorCode } from '../../runs/client-error.ts';
import type { RunReport } from '../../client/lookup/run-report.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, waiting: 3, noSuchRun: 4, cancelled: 130 } as const;

export function exitCodeOfError(code: ClientErrorCode): number {
  switch (code) {
    case 'USAGE':
    case 'DEFINITION_INVALID':
    case 'DEFINITION_NOT_FOUND':
    case 'INPUT_REFUSED':
    case 'HANDLE_TAKEN':
    case 'HANDLE_AMBIGUOUS':
    case 'EDIT_STALE':
    case 'EDIT_INVALID':
    case 'STEP_NOT_FOUND':
    case 'STEP_PAST':
    case 'STEP_UNDER_WAY':
    case 'FORK_KEY_NOT_REACHED':
    case 'FORK_DEFINITION_DIFFERS':
    case 'SETTINGS':
    case 'VALUE_TOO_LARGE':
    case 'VALUE_NOT_JSON':
    case 'EVENT_RESERVED':
    case 'TELL_INVALID':
    case 'POLICY_INVALID':
      return EXIT.usage;
    case 'RUN_NOT_FOUND':
    case 'NOT_FOUND':
      return EXIT.noSuchRun;
    case 'COMMAND_FAILED':
    case 'RUN_ENDED':
    case 'HELD_AT_LIMIT':
    case 'RIGHTS_EXCEEDED':
    case 'RUN_LOST':
    case 'UNDO_REFUSED':
    case 'FORK_REFUSED':
    case 'HISTORY_MISSING':
    case 'HISTORY_DIVERGES':
    case 'QUESTION_UNKNOWN':
    case 'ANSWER_REFUSED':
    case 'NO_MODEL_STEP':
    case 'ANSWERED_ALREADY':
    case 'NO_ANSWER':
    case 'NOT_SEALED':
    case 'SERVICES':
    case 'STORE_UNAVAILABLE':
    case 'SANDBOX_NOT_AVAILABLE':
    case 'BUG':
      return EXIT.failed;
    default:
      return code satisfies never;
  }
}

/** A run that a person stopped counts as cancelled; one that a limit stopped as failed. */
export function exitCodeOfRun({ status }: Pick<RunReport, 'status'>): number {
  switch (status) {
    case 'completed':
      return EXIT.ok;
    case 'failed':
      return EXIT.failed;
    case 'cancelled':
      return EXIT.cancelled;
    case 'paused':
      return EXIT.waiting;
    case 'running':
      return EXIT.ok;
    default:
      return status satisfies never;
  }
}
