/**
 * Tells a database that is away (or too busy to decide now) from a statement that is wrong: after
 * the first the same call may succeed later, after the second it never will.
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
  'ENOENT',
  // Postgres: shut down by an administrator, crashed, starting up, idle session ended, no slots left,
  // deadlock, serialization failure, a lock or a transaction that took too long.
  '55P03',
  '25P03',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '40P01',
  '40001',
  // Prisma: not reachable, timed out, connection closed, no connection free.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
]);

/** pg gives these no code. */
const MESSAGE =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable)/;

export function isUnavailable(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    const code: unknown = 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && (CODES.has(code) || code.startsWith('08'))) return true;
    if (MESSAGE.test(cause.message)) return true;
    if (cause instanceof AggregateError && cause.errors.some(isUnavailable)) return true;
  }
  return false;
}
