/**
 * A `fetch` that follows a redirect only where the answer still comes from the server that was asked. What is
 * sent (prompts, keys in headers of any name) was meant for that server, and `fetch` by itself would send it on.
 */
type Fetch = (address: string, init: RequestInit) => Promise<Response>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HOPS_MAX = 5;

export class RedirectedAway extends Error {
  readonly from: string;
  readonly to: string;

  constructor(from: string, to: string) {
    super(`${from} redirects to ${to}, and nothing was sent there; if that is its address now, set it`);
    this.from = from;
    this.to = to;
  }
}

export async function fetchFromServer(fetch: Fetch, address: string, init: RequestInit = {}): Promise<Response> {
  let at = new URL(address);
  for (let hops = 0; ; hops += 1) {
    const response = await fetch(at.href, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, at.href) ? new URL(location, at.href) : null;
    if (next === null || !isSameServer(at, next) || !keepsRequest(response.status, init) || hops === HOPS_MAX)
      throw new RedirectedAway(placeOf(at), next === null ? 'no address' : placeOf(next));
    at = next;
  }
}

/** A server may ask for its own encrypted address. */
const isSameServer = (from: URL, to: URL): boolean =>
  from.origin === to.origin ||
  (from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname && from.port === '');

/** The others make a GET without a body of it, to which no answer is an answer. */
const keepsRequest = (status: number, { method = 'GET' }: RequestInit): boolean =>
  status === 307 || status === 308 || method.toUpperCase() === 'GET';

/** Without a query, which may hold a key. */
const placeOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`.slice(0, 200);
