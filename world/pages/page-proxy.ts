/**
 * The only way out of a browser that shows a model pages: it resolves each name itself, looks at the address that it
 * got, and connects to exactly that one, or has the proxy of the environment connect (onward.ts). So no name, no
 * redirect, no frame and no script leads anywhere else, however it is spelt. Whoever has no password of this launch is
 * not served. A page that nobody's model asked for comes through it where the environment names a proxy, which the
 * browser itself would have to be told, with its password.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { placeOf } from './addresses.ts';
import { deniedOf } from './listeners.ts';
import { authorizationOf, type Proxy } from '../http/proxy.ts';
import { nameFor, pageProxy, throughTunnel, toAddress, toProxy, type Way } from './onward.ts';
import { isOwnService } from './own-services.ts';

const USER = 'page';
const HOP_BY_HOP = ['proxy-authorization', 'proxy-connection', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'];

export interface Access {
  server: string;
  username: string;
  password: string;
  /** Chromium leaves out this host by itself. */
  bypass: string;
}

/** Where a page wanted to go and was not let. */
export interface Refusal {
  where: string;
  why: string;
}

/** Why nothing is asked of a host; null: it may be. */
type HostRefused = (host: string) => string | null;

export interface Terms {
  isForModel: boolean;
  /** Absent: every host may be asked. */
  hostRefused?: HostRefused | null;
}

export class PageProxy {
  readonly #server: Server;
  readonly #password = randomBytes(24).toString('base64url');
  readonly #sockets = new Set<Duplex>();
  readonly refused: Refusal[] = [];

  readonly #isForModel: boolean;
  readonly #hostRefused: HostRefused;

  private constructor({ isForModel, hostRefused }: Terms) {
    this.#isForModel = isForModel;
    this.#hostRefused = hostRefused ?? (() => null);
    this.#server = createServer((asked, answer) => void this.#forward(asked, answer));
    this.#server.on(
      'connect',
      (asked: IncomingMessage, client: Duplex, head: Buffer) => void this.#tunnel(asked, client, head),
    );
    this.#server.on('connection', (socket) => this.#hold(socket));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async open(terms: Terms): Promise<PageProxy> {
    const proxy = new PageProxy(terms);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get access(): Access {
    const { port } = this.#server.address() as AddressInfo;
    return { server: `http://127.0.0.1:${port}`, username: USER, password: this.#password, bypass: '<-loopback>' };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #hold(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  #isKnown({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    const wanted = Buffer.from(`Basic ${Buffer.from(`${USER}:${this.#password}`).toString('base64')}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (!this.#isKnown(asked)) {
      answer.writeHead(407, { 'proxy-authenticate': 'Basic realm="page"' }).end();
      return;
    }
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : null;
    const way = url?.protocol !== 'http:' ? null : await this.#reach('http', hostOf(url), Number(url.port || 80));
    if (url === null || way === null) {
      // An answer of ours would be shown as the page.
      asked.socket.destroy();
      return;
    }
    const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
    const sent = sendRequest(
      {
        method: asked.method ?? 'GET',
        path: `${way.asked ?? ''}${url.pathname}${url.search}`,
        headers: { ...headers, ...way.headers, connection: 'close' },
        createConnection: () => way.socket,
      },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.statusMessage, withoutHops(response.headers));
        response.pipe(answer);
        response.on('error', () => answer.destroy());
      },
    );
    sent.on('error', () => asked.socket.destroy());
    answer.on('close', () => sent.destroy());
    asked.pipe(sent);
  }

  async #tunnel(asked: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    this.#hold(client);
    if (!this.#isKnown(asked)) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="page"\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    const url = URL.canParse(`http://${asked.url ?? ''}`) ? new URL(`http://${asked.url ?? ''}`) : null;
    const way = url === null ? null : await this.#reach('https', hostOf(url), Number(url.port || 80));
    if (way === null) {
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const { socket } = way;
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.write(head);
    socket.pipe(client).pipe(socket);
    client.once('close', () => socket.destroy());
    socket.once('close', () => client.destroy());
  }

  /** Null where it may not, or cannot, be reached. */
  async #reach(kind: 'http' | 'https', host: string, port: number): Promise<Way | null> {
    const refused = this.#hostRefused(host);
    if (refused !== null) {
      this.refused.push({ where: `${host}:${port}`, why: refused });
      return null;
    }
    const proxy = pageProxy(kind, host, port);
    const addresses = await addressesOf(host);
    for (const address of addresses) {
      const why = this.#isForModel ? await whyNot(address, port) : null;
      if (why !== null) {
        const at = isIP(host) === 0 ? `${host}:${port} (${address})` : `${host}:${port}`;
        this.refused.push({ where: at, why });
        continue;
      }
      const name = proxy === null || placeOf(address) === 'here' ? null : this.#nameFor(proxy, host, address);
      const way =
        proxy === null || name === null ? await directly(address, port) : await through(proxy, kind, name, port);
      if (way !== null) return this.#held(way);
    }
    if (proxy === null || addresses.length > 0) return null;
    const name = this.#nameFor(proxy, host, null);
    if (name === null)
      this.refused.push({
        where: `${host}:${port}`,
        why: 'its name has no address here, and the proxy is on this machine',
      });
    const way = name === null ? null : await through(proxy, kind, name, port);
    return way === null ? null : this.#held(way);
  }

  #nameFor(proxy: Proxy, host: string, address: string | null): string | null {
    return this.#isForModel ? nameFor(proxy, host, address) : host;
  }

  #held(way: Way): Way {
    this.#hold(way.socket);
    return way;
  }
}

async function directly(address: string, port: number): Promise<Way | null> {
  const socket = await toAddress(address, port);
  return socket === null ? null : { socket };
}

/** Requests that are not encrypted are handed to the proxy as they are: many let only port 443 through a tunnel. */
async function through(proxy: Proxy, kind: 'http' | 'https', name: string, port: number): Promise<Way | null> {
  if (kind === 'https') {
    const socket = await throughTunnel(proxy, name, port);
    return socket === null ? null : { socket };
  }
  const socket = await toProxy(proxy);
  if (socket === null) return null;
  const authorization = authorizationOf(proxy);
  return {
    socket,
    asked: `http://${isIP(name) === 6 ? `[${name}]` : name}${port === 80 ? '' : `:${port}`}`,
    headers: authorization === null ? {} : { 'proxy-authorization': authorization },
  };
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

const withoutHops = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

async function whyNot(address: string, port: number): Promise<string | null> {
  const place = placeOf(address);
  if (place !== 'here' && place !== 'elsewhere') return place;
  if (await isOwnService(address, port)) return 'it is a service of Sentinel';
  return place === 'here' ? deniedOf(port) : null;
}
