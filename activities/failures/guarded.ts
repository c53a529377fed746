/** How an activity fails: by the code of its failure, which is tried again only where the store was away. */
import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import { Failure } from '../../world/failures/failures.ts';
import { lastingFailure } from './lasting-failure.ts';

export async function guarded<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const failure = error instanceof Failure ? error : lastingIn(error);
    if (failure === null) throw error;
    throw ApplicationFailure.create({
      message: failure.message,
      type: failure.code,
      nonRetryable: failure.code !== 'STORE_UNAVAILABLE',
      ...(failure.details === undefined ? {} : { details: [failure.details] }),
      cause: failure,
    });
  }
}

/** A step that was told to end says so in its own way. */
const lastingIn = (error: unknown): Failure | null =>
  Context.current().cancellationSignal.aborted ? null : lastingFailure(error, activityInfo().attempt);
