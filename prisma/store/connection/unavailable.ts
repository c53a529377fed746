/**
 * Tells a database that is away (or too busy or too full to decide now) from a statement that is wrong:
 * after the first the same call may succeed later, after the second it never will.
 */
const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // Postgres: deadlock, serialization failure, a lock or a transaction that took too long, a standby that only reads.
  '55P03',
  '25P03',
  '25006',
  '40P01',
  '40001',
  // Prisma: not reachable, timed out, connection closed, no connection free.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
]);

/** A socket that is not there; of a file it says nothing about a database. */
const hasNoSocket = (cause: Error): boolean =>
  codeOf(cause) === 'ENOENT' && 'syscall' in cause && cause.syscall === 'connect';

/** Classes of Postgres: no connection, no room left, an operator at work, the system below it. */
const CLASSES = new Set(['08', '53', '57', '58']);

/** Nobody is let in, whatever is asked: the role, its password, the database. */
const LOCKED_OUT = new Set(['28000', '28P01', '3D000']);

/** pg gives these no code. */
const MESSAGE =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable)/;

export function isUnavailable(error: unknown): boolean {
  return causesOf(error).some(
    (cause) =>
      CODES.has(codeOf(cause)) ||
      hasNoSocket(cause) ||
      CLASSES.has(codeOf(cause).slice(0, 2)) ||
      MESSAGE.test(cause.message) ||
      (cause instanceof AggregateError && cause.errors.some(isUnavailable)),
  );
}

/** The same, or it lets nobody in: nothing is wrong with what it was asked. */
export function isAway(error: unknown): boolean {
  return isUnavailable(error) || causesOf(error).some((cause) => LOCKED_OUT.has(codeOf(cause)));
}

/** There is nobody there, or nothing of ours yet. */
export function isMissing(error: unknown): boolean {
  return isUnavailable(error) || causesOf(error).some((cause) => codeOf(cause) === '42P01');
}

/** An error and what caused it, outermost first. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause) causes.push(cause);
  return causes;
}

/** Of the system, of Postgres or of Prisma; empty where there is none. */
export const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');
