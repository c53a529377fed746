/** What a run was given without a seal, at its start or as a result: it does nothing more with it. */
import { ApplicationFailure } from '@temporalio/workflow';
import { NOT_SEALED, unsealedFinding } from '../messages/unsealed.ts';

/** Nothing at all is nobody's: whatever a run is given or comes to is a value. */
export function refuseUnsealed(what: string, value: unknown): void {
  const finding = value === undefined ? 'not-sealed' : unsealedFinding(value);
  if (finding === null) return;
  // Another worker may have the key: the task is tried again until one takes it.
  if (finding === 'unknown-key')
    throw new Error(
      `${what} was sealed with a key that this worker does not have: give all workers and clients the same SENTINEL_KEY`,
    );
  throw ApplicationFailure.nonRetryable(
    `${what} was not sealed for this run with a key of this installation`,
    NOT_SEALED,
  );
}
