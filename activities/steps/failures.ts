/** How an activity fails: by the code of its failure, which is tried again only where the store was away. */
import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import { LeftBehind } from '../../world/processes/overtaken.ts';
import { Failure } from '../../world/failures/failures.ts';
import { causesOf, isAway } from '../../prisma/store/connection/unavailable.ts';

export async function guarded<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof LeftBehind) throw leftBehind(error);
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

/** Somebody else goes on with it: the next attempt is to come at once. */
export const leftBehind = ({ message }: LeftBehind): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'LeftBehind', nextRetryDelay: '100ms' });

/** A step that was told to end says so in its own way. */
function lastingIn(error: unknown): Failure | null {
  const { workflowExecution, activityId } = activityInfo();
  const step = `${workflowExecution?.workflowId ?? ''} ${activityId}`;
  return Context.current().cancellationSignal.aborted ? null : lastingFailure(error, step);
}

/** After so many errors what goes wrong will not pass: a bug of a command, or a state of the machine. With the waits between them, some minutes. */
export const ERRORS_MAX = 12;

/** Errors of each step that may be tried again, in this process: an attempt that its worker took with it has thrown none. */
const errors = new LRUCache<string, number>({ max: 10_000 });

/**
 * The failure of a step (`RUN KEY`) whose work threw what is no failure of its own, so many times here; null where it is
 * to be tried again. Work for which the database or the Temporal server is away is tried for as long as that lasts.
 */
export function lastingFailure(error: unknown, step: string): Failure | null {
  if (error instanceof Failure || error instanceof LeftBehind || isAway(error) || isOfTemporal(error)) return null;
  const count = (errors.get(step) ?? 0) + 1;
  errors.set(step, count);
  if (count < ERRORS_MAX) return null;
  const finding = error instanceof Error ? error.message : String(error);
  return new Failure('ACTIVITY_FAILED', `${finding} (tried ${count} times)`, { cause: error });
}

const isOfTemporal = (error: unknown): boolean => causesOf(error).some(({ name }) => name === 'ServiceError');
