/**
 * Who may use the Web UI that `sentinel web` serves: a browser that was given the token of the printed address,
 * once, and has a cookie since. A page of another origin gets nothing, and neither does one that reaches this
 * server under a name that leads to it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export type Verdict = { may: 'enter'; cookie: string } | { may: 'pass' } | { may: 'not'; status: number; why: string };

export const TOKEN = 'token';

const AGAIN = 'run "sentinel web" again for an address that opens once';

export class Admission {
  readonly token = randomBytes(32).toString('base64url');
  readonly #session = randomBytes(32).toString('base64url');
  readonly #port: number;
  #isSpent = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Cookies do not tell ports apart, so its name does. */
  get cookieName(): string {
    return `sentinel_web_${this.#port}`;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  judge({ method = '', url = '/', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): Verdict {
    const own = [this.origin, `http://localhost:${this.#port}`];
    const origin = `http://${headers.host ?? ''}`;
    if (!own.includes(origin)) return refused(403, `there is no "${headers.host ?? ''}" here`);
    if (isOfAnotherPage(method, headers, origin)) return refused(403, 'a page of another origin asks');
    if (isSame(cookieOf(headers.cookie, this.cookieName), this.#session)) return { may: 'pass' };
    const given = new URL(url, origin).searchParams.get(TOKEN);
    if (given === null) return refused(401, `the address that "sentinel web" prints opens this; ${AGAIN}`);
    if (method !== 'GET' || !isSame(given, this.token))
      return refused(401, `the token is not of this "sentinel web"; ${AGAIN}`);
    if (this.#isSpent) return refused(401, `the token was used; ${AGAIN}`);
    this.#isSpent = true;
    return { may: 'enter', cookie: `${this.cookieName}=${this.#session}; HttpOnly; SameSite=Strict; Path=/` };
  }
}

const refused = (status: number, why: string): Verdict => ({ may: 'not', status, why });

/** What is neither a look at a page by its address nor asked by a page of ours. */
function isOfAnotherPage(method: string, headers: IncomingMessage['headers'], own: string): boolean {
  const { origin } = headers;
  if (origin !== undefined) return origin !== own;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return false;
  if (method !== 'GET' && method !== 'HEAD') return true;
  return site !== undefined && site !== 'none' && headers['sec-fetch-mode'] !== 'navigate';
}

function cookieOf(header: string | undefined, name: string): string {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

function isSame(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}
