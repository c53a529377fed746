/** What goes wrong again and again although nothing is away: a bug of a command, or a state of the machine that stays. */
import { causesOf, isAway } from '../../prisma/store/connection/unavailable.ts';
import { Failure } from '../../world/failures/failures.ts';

/** With the waits between them, some minutes. */
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
