/** A company's proxy, for requests as they are and for tunnels: it leads every server that it is asked for to one of this machine. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ProxyParts {
  /** Where everything is led to. */
  port: number;
  /** `user:password`; who does not say it is refused. */
  known?: string;
  /** What everybody is refused with. */
  refuses?: number;
}

export class CompanyProxy {
  /** `POST http://host/path` and `CONNECT host:port`. */
  readonly asked: string[] = [];
  readonly #parts: ProxyParts;
  readonly #sockets = new Set<Duplex>();
  readonly #server = createServer((asked, answer) => this.#forward(asked, answer));
  address = '';

  constructor(parts: ProxyParts) {
    this.#parts = parts;
    this.#server.on('connect', (asked: IncomingMessage, client: Duplex) => this.#tunnel(asked, client));
    this.#server.on('connection', (socket) => this.#hold(socket));
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.address = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #hold(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  #refusal({ headers }: IncomingMessage): number | null {
    const { known, refuses } = this.#parts;
    if (refuses !== undefined) return refuses;
    const wanted = known === undefined ? undefined : `Basic ${Buffer.from(known).toString('base64')}`;
    return wanted === undefined || headers['proxy-authorization'] === wanted ? null : 407;
  }

  #forward(asked: IncomingMessage, answer: ServerResponse): void {
    this.asked.push(`${asked.method ?? ''} ${asked.url ?? ''}`);
    const refused = this.#refusal(asked);
    if (refused !== null) {
      answer.writeHead(refused, { 'content-type': 'text/html' }).end('<html>refused</html>');
      return;
    }
    const { pathname, search } = new URL(asked.url ?? '');
    const sent = request(
      {
        host: '127.0.0.1',
        port: this.#parts.port,
        path: `${pathname}${search}`,
        method: asked.method ?? 'GET',
        headers: asked.headers,
      },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  }

  #tunnel(asked: IncomingMessage, client: Duplex): void {
    this.#hold(client);
    this.asked.push(`CONNECT ${asked.url ?? ''}`);
    const refused = this.#refusal(asked);
    if (refused !== null) {
      client.end(`HTTP/1.1 ${refused} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const server = connect(this.#parts.port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    this.#hold(server);
  }
}
