/** What services, settings and servers throw, as the error that the client throws: null for what is none of these. */
import { ClientError, type ClientErrorCode } from '../../runs/client-error.ts';

/** By the name of an error whose message says finding and remedy. */
const CODES: ReadonlyMap<string, ClientErrorCode> = new Map([
  ['ConfigError', 'SETTINGS'],
  ['SANDBOX_NOT_AVAILABLE', 'SANDBOX_NOT_AVAILABLE'],
  ['ServicesError', 'SERVICES'],
]);

export function asClientError(error: unknown): ClientError | null {
  if (error instanceof ClientError) return error;
  if (!(error instanceof Error)) return null;
  const code = CODES.get(error.name);
  if (code !== undefined) return new ClientError(code, error.message, { cause: error });
  const file = fileFault(error);
  if (file !== null) return new ClientError('USAGE', file, { cause: error });
  if (error.name === 'NamespaceNotFoundError') {
    const message = `The Temporal server does not have what TEMPORAL_NAMESPACE names (${error.message}): create the namespace there, or correct the setting.`;
    return new ClientError('SERVICES', message, { cause: error });
  }
  if (
    error.name === 'ServiceError' ||
    /^Failed to connect before the deadline|^\d+ (UNAVAILABLE|DEADLINE_EXCEEDED)/.test(error.message)
  ) {
    const message = `Temporal does not answer (${error.message}): "sentinel doctor" says what to do.`;
    return new ClientError('NO_ANSWER', message, { cause: error });
  }
  return null;
}

/** What the file system says of a path that somebody chose. That a file is not there says whoever looks for it. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'its permissions refuse it; change them, or choose another path',
  EPERM: 'its permissions refuse it; change them, or choose another path',
  EROFS: 'the file system is read-only; choose another path',
  EISDIR: 'it is a folder; give a file',
  ENOTDIR: 'a part of the path is no folder; choose another path',
  ENAMETOOLONG: 'its name is too long for the file system; choose a shorter one',
  ELOOP: 'its links lead round in a circle; correct them',
  ENOSPC: 'there is no space left on the disk; make room there',
  EDQUOT: 'your share of the disk is used up; make room there',
};
const pathShownMax = 100;

function fileFault(error: NodeJS.ErrnoException): string | null {
  if (error.code === 'ERR_INVALID_ARG_VALUE' && error.message.includes('null bytes'))
    return 'A path holds the character NUL, which no name of a file can have: give another one.';
  const reason = error.path === undefined ? undefined : REASONS[error.code ?? ''];
  if (reason === undefined) return null;
  const path = error.path ?? '';
  const shown = path.length > pathShownMax ? `${path.slice(0, pathShownMax)}…` : path;
  return `"${shown}" cannot be used: ${reason}.`;
}

/** Whatever it throws is thrown as the client's own error where there is one for it. */
export async function asClientWould<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw asClientError(error) ?? error;
  }
}
