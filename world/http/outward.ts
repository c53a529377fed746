/**
 * The `fetch` with which this process asks servers elsewhere: through the proxy that the environment names for them. It
 * has no limits on time, which whoever asks sets by the signal.
 */
import { Agent, fetch as undiciFetch, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { authorizationOf, proxyFor, shownProxy, type Proxy } from './proxy.ts';

const CONNECT_MS = 30_000;
const unlimited = { headersTimeout: 0, bodyTimeout: 0 };

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
  const ask = (dispatcher: Dispatcher): Promise<Response> => undiciFetch(address, { ...(init as object), dispatcher });
  if (proxy === null) return ask(direct);
  const response = await ask(agentOf(proxy)).catch((error: unknown) => {
    if (init.signal?.aborted === true || !(error instanceof Error)) throw error;
    throw new ProxyFault(proxy, refusalIn(error), error);
  });
  if (response.status !== 407) return response;
  await response.body?.cancel();
  throw new ProxyFault(proxy, 407);
}

const direct = new Agent({ ...unlimited, connectTimeout: CONNECT_MS });
const agents = new Map<string, ProxyAgent>();

function agentOf(proxy: Proxy): ProxyAgent {
  const { href } = proxy.url;
  const known = agents.get(href) ?? open(proxy);
  agents.set(href, known);
  return known;
}

/** A request that is not encrypted is handed to the proxy as it is: many let only port 443 through a tunnel. */
function open(proxy: Proxy): ProxyAgent {
  const { protocol, host } = proxy.url;
  const token = authorizationOf(proxy);
  const isSocks = protocol.startsWith('socks');
  return new ProxyAgent({
    uri: isSocks ? proxy.url.href : `${protocol}//${host}`,
    ...(isSocks || token === null ? {} : { token }),
    proxyTunnel: isSocks,
    ...unlimited,
    factory: (origin, options) => new Pool(origin, Object.assign(options, unlimited)),
    clientFactory: (origin, options) => new Pool(origin, Object.assign(options, { headersTimeout: CONNECT_MS })),
  });
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
