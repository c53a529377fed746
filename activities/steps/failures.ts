/** How an activity fails: by the code of its failure, which is tried again only where the store was away. */
import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
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
const lastingIn = (error: unknown): Failure | null =>
  Context.current().cancellationSignal.aborted ? null : lastingFailure(error, activityInfo().attempt);

/** After so many attempts what goes wrong will not pass: a bug of a command, or a state of the machine. With the waits between them, some minutes. */
export const ATTEMPTS_MAX = 12;

/**
 * The failure of a step whose work threw what is no failure of its own, so many times; null where it is to be tried
 * again. Work for which the database or the Temporal server is away is tried for as long as that lasts.
 */
export function lastingFailure(error: unknown, attempt: number): Failure | null {
  if (attempt < ATTEMPTS_MAX || error instanceof Failure) return null;
  if (isAway(error) || isOfTemporal(error)) return null;
  const finding = error instanceof Error ? error.message : String(error);
  return new Failure('ACTIVITY_FAILED', `${finding} (tried ${attempt} times)`, { cause: error });
}

const isOfTemporal = (error: unknown): boolean => causesOf(error).some(({ name }) => name === 'ServiceError');
