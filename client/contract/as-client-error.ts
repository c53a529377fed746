/** What services, settings and servers throw, as the error that the client throws: null for what is none of these. */
import { ClientError, type ClientErrorCode } from '../../runs/client-error.ts';

/** By the name of an error whose message says finding and remedy. */
const CODES: ReadonlyMap<string, ClientErrorCode> = new Map([
  ['ConfigError', 'SETTINGS'],
  ['CONFIG_DIFFERS', 'SETTINGS'],
  ['SANDBOX_NOT_AVAILABLE', 'SANDBOX_NOT_AVAILABLE'],
  ['ServicesError', 'SERVICES'],
]);

export function asClientError(error: unknown): ClientError | null {
  if (error instanceof ClientError) return error;
  if (!(error instanceof Error)) return null;
  const code = CODES.get(error.name);
  if (code !== undefined) return new ClientError(code, error.message, { cause: error });
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

/** Whatever it throws is thrown as the client's own error where there is one for it. */
export async function asClientWould<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw asClientError(error) ?? error;
  }
}
