/**
 * The `fetch` with which this process asks servers elsewhere: through the proxy that the environment names for them. It
 * has no limits on time, which whoever asks sets by the signal.
 */
import { proxyFor, shownProxy, type Proxy } from './proxy.ts';

/** A request that went to a proxy, and did not come to the server. */
export class ProxyFault extends Error {
  readonly variable: string;
  /** What the proxy answered; null where it did not. */
  readonly status: number | null;

  constructor(proxy: Proxy, status: number | null, cause?: Error) {
    const said = status === null ? (cause === undefined ? 'no answer' : reasonIn(cause)) : `it answered ${status}`;
    const options = cause === undefined ? {} : { cause };
    super(`through the proxy ${shownProxy(proxy)} (${said}): ${remedyFor(proxy, status)}`, options);
    this.variable = proxy.variable;
    this.status = status;
  }
}

function remedyFor({ variable, url }: Proxy, status: number | null): string {
  if (status === 407)
    return `write ${url.username === '' ? 'its user and password' : 'another user and password'} into ${variable}, as http://USER:PASSWORD@HOST:PORT`;
  if (status === null) return `is the proxy running, and is ${variable} right?`;
  return 'have the proxy let it through, or name the server in no_proxy';
}

export async function fetchOutward(address: string, init: RequestInit = {}): Promise<Response> {
  const proxy = proxyFor(new URL(address));
  // Its library is large, and a worker is wanted before anything is asked.
  const { fetchThrough } = await import('./fetch-through.ts');
  if (proxy === null) return fetchThrough(null, address, init);
  const response = await fetchThrough(proxy, address, init).catch((error: unknown) => {
    if (init.signal?.aborted === true || !(error instanceof Error)) throw error;
    throw new ProxyFault(proxy, refusalIn(error), error);
  });
  if (response.status !== 407) return response;
  await response.body?.cancel();
  throw new ProxyFault(proxy, 407);
}

const causesOf = (error: Error): Error[] => [error, ...(error.cause instanceof Error ? causesOf(error.cause) : [])];

/** The status with which a proxy refused a tunnel. */
function refusalIn(error: Error): number | null {
  const found = causesOf(error).flatMap(({ message }) => /^Proxy response \((\d+)\)/.exec(message)?.[1] ?? []);
  if (causesOf(error).some(({ message }) => message.includes('(407)'))) return 407;
  return found[0] === undefined ? null : Number(found[0]);
}

function reasonIn(error: Error): string {
  const last = causesOf(error).at(-1) ?? error;
  return (last as NodeJS.ErrnoException).code ?? last.message;
}
