/** A `fetch` without limits on time that goes through a proxy, or to the server itself. */
import { Agent, fetch, Pool, ProxyAgent } from 'undici';
import { authorizationOf, type Proxy } from './proxy.ts';

const CONNECT_MS = 30_000;
const unlimited = { headersTimeout: 0, bodyTimeout: 0 };

const direct = new Agent({ ...unlimited, connectTimeout: CONNECT_MS });
const agents = new Map<string, ProxyAgent>();

export const fetchThrough = (proxy: Proxy | null, address: string, init: RequestInit): Promise<Response> =>
  fetch(address, { ...(init as object), dispatcher: proxy === null ? direct : agentOf(proxy) });

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
