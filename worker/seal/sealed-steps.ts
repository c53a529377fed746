/** A worker performs what a run of this installation asks for: an activity whose input has no seal, or has none at all, does nothing. */
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { NOT_SEALED, unsealedFinding } from '../../workflows/messages/unsealed.ts';

export const sealedSteps: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const findings = input.args.map((arg) => unsealedFinding(arg));
      if (input.args.length > 0 && findings.every((finding) => finding === null)) return next(input);
      const isForAnother = findings.includes('unknown-key') && !findings.includes('not-sealed');
      throw ApplicationFailure.create({
        type: NOT_SEALED,
        message: isForAnother
          ? `${info.activityId}: its input was sealed with a key that this worker does not have: give all workers and clients the same SENTINEL_KEY`
          : `${info.activityId}: its input was not sealed for this step with a key of this installation`,
        // Another worker may have the key.
        nonRetryable: !isForAnother,
      });
    },
  },
});
