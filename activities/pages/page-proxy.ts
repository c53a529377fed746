/**
 * The only way out of a browser that shows a model pages: it resolves each name itself, looks at the address that it
 * got, and connects to exactly that one. So no name, no redirect, no frame and no script leads anywhere else, however
 * it is spelt. Whoever has no password of this launch is not served.
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
import { connect, isIP, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { placeOf } from './addresses.ts';
import { deniedOf } from './listeners.ts';
import { isOwnService } from './own-services.ts';

const connectMaxMs = 10_000;
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

export class PageProxy {
  readonly #server: Server;
  readonly #password = randomBytes(24).toString('base64url');
  readonly #sockets = new Set<Duplex>();
  readonly refused: Refusal[] = [];

  private constructor() {
    this.#server = createServer((asked, answer) => void this.#forward(asked, answer));
    this.#server.on(
      'connect',
      (asked: IncomingMessage, client: Duplex, head: Buffer) => void this.#tunnel(asked, client, head),
    );
    this.#server.on('connection', (socket) => this.#hold(socket));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async open(): Promise<PageProxy> {
    const proxy = new PageProxy();
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
    const socket = url?.protocol !== 'http:' ? null : await this.#reach(hostOf(url), Number(url.port || 80));
    if (url === null || socket === null) {
      // An answer of ours would be shown as the page.
      asked.socket.destroy();
      return;
    }
    const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
    const sent = sendRequest(
      {
        method: asked.method ?? 'GET',
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, connection: 'close' },
        createConnection: () => socket,
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
    const socket = url === null ? null : await this.#reach(hostOf(url), Number(url.port || 80));
    if (socket === null) {
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.write(head);
    socket.pipe(client).pipe(socket);
    client.once('close', () => socket.destroy());
    socket.once('close', () => client.destroy());
  }

  /** Null where it may not, or cannot, be reached. */
  async #reach(host: string, port: number): Promise<Socket | null> {
    for (const address of await addressesOf(host)) {
      const why = await whyNot(address, port);
      if (why !== null) {
        const at = isIP(host) === 0 ? `${host}:${port} (${address})` : `${host}:${port}`;
        this.refused.push({ where: at, why });
        continue;
      }
      const socket = await connected(address, port);
      if (socket === null) continue;
      this.#hold(socket);
      return socket;
    }
    return null;
  }
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

function connected(host: string, port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const giveUp = (): void => {
      socket.destroy();
      resolve(null);
    };
    const timer = setTimeout(giveUp, connectMaxMs);
    socket.once('error', giveUp);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', giveUp);
      resolve(socket);
    });
    socket.once('close', () => clearTimeout(timer));
  });
}
