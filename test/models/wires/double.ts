/** An HTTP server that answers as a test says, and remembers what it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../language/json.ts';

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** Sent one after the other. */
  pieces?: readonly (string | Uint8Array)[];
  /** Before the headers; for ever where it is `Infinity`. */
  silentMs?: number;
  /** Nothing is sent before this settles. */
  after?: Promise<unknown>;
  /** What follows the pieces; default `end`. */
  then?: 'end' | 'reset' | 'silence' | 'endless';
}

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
  /** Settles when the client let go of the connection, or the answer ended. */
  closed: Promise<void>;
}

export class Double {
  readonly asked: Asked[] = [];
  readonly #replies: Reply[] = [];
  readonly #routes = new Map<string, Reply>();
  readonly #answers = new Map<string, (body: JsonObject) => Reply>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  url = '';

  /** What the next request gets. */
  next(...replies: Reply[]): void {
    this.#replies.push(...replies);
  }

  /** What requests of a path get, by what they ask. */
  answer(path: string, answer: (body: JsonObject) => Reply): void {
    this.#answers.set(path, answer);
  }

  /** What is left of what the next requests get is dropped. */
  forget(): void {
    this.#replies.length = 0;
  }

  /** What requests of a path get, whenever they come. */
  route(path: string, reply: Reply): void {
    this.#routes.set(path, reply);
  }

  async open(): Promise<this> {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    const path = new URL(request.url ?? '/', 'http://double').pathname;
    const body = text === '' ? {} : (JSON.parse(text) as JsonObject);
    this.asked.push({
      method: request.method ?? '',
      path,
      headers: request.headers,
      body,
      closed: new Promise((resolve) => response.on('close', resolve)),
    });
    const reply = this.#routes.get(path) ?? this.#answers.get(path)?.(body) ?? this.#replies.shift();
    await play(
      reply ?? { status: 404, pieces: [JSON.stringify({ error: { message: `nothing at ${path}` } })] },
      response,
    );
  }
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  const {
    status = 200,
    headers = { 'content-type': 'application/json' },
    pieces = [],
    silentMs = 0,
    after,
    then = 'end',
  } = reply;
  if (silentMs === Number.POSITIVE_INFINITY) return;
  if (silentMs > 0) await sleep(silentMs);
  await after;
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  if (then === 'end') response.end();
  if (then === 'reset') {
    // What was written has to be on its way before the connection breaks.
    await sleep(20);
    response.socket?.resetAndDestroy();
  }
  if (then !== 'endless') return;
  while (!response.destroyed) {
    const last = pieces.at(-1) ?? '\n';
    for (let count = 0; count < 20; count += 1) if (!response.write(last)) await drained(response);
    await sleep(0);
  }
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });

/** A text in pieces of a few bytes, whose ends fall into characters and lines. */
export function chopped(text: string): Uint8Array[] {
  const bytes = Buffer.from(text, 'utf8');
  const pieces: Uint8Array[] = [];
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 5 + 3) % 17 || 1)
    pieces.push(bytes.subarray(at, at + size));
  return pieces;
}
