/**
 * Messages for sources of projects that have workers of their own: one worker has the port, and hands them on through
 * the sockets on which the others listen. Which source a message is for is asked before its body is read; where several
 * projects have one of that name, the one whose secret proves it takes it.
 */
import { request as open, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { isJsonObject, type Json } from '../../language/json.ts';
import { LARGE_BYTES_MAX } from '../../services/webhooks/senders/sender.ts';
import { bodyOf, Refusal } from './http-message.ts';
import type { MessageReader } from './message-reader.ts';
import type { SourceAnswer } from './source-door.ts';

const ANSWER_MAX_MS = 30_000;
/** Of the connection, not of the message. */
const OF_THE_WAY = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding', 'content-length', 'expect']);
/** Its secret proves nothing to these. */
const NOT_FOR_IT: ReadonlySet<number> = new Set([401, 403, 404]);

export class OtherDoors {
  readonly #sockets: () => readonly string[];
  readonly #reader: MessageReader;

  constructor(sockets: () => readonly string[], reader: MessageReader) {
    this.#sockets = sockets;
    this.#reader = reader;
  }

  /** Null where no project has such a source. */
  async answer(request: IncomingMessage): Promise<SourceAnswer | null> {
    const path = request.url ?? '/';
    const sockets = this.#sockets();
    // A door tells that it has a source by what it says of a request that is no message.
    const asked = await Promise.all(sockets.map((socket) => send(socket, { method: 'GET', path, headers: {} })));
    const known = sockets.filter((_socket, index) => asked[index] !== null && asked[index]?.status !== 404);
    if (known.length === 0) {
      if (asked.some((answer) => answer === null))
        throw new Refusal(503, 'a project is not there yet; send it again later', 'WEBHOOK_NOT_STORED');
      return null;
    }
    const { method = 'GET', headers } = request;
    const { hold, release } = this.#reader.holding();
    try {
      const body = await bodyOf(request, LARGE_BYTES_MAX, { hold, code: 'WEBHOOK_BODY_TOO_LARGE' });
      return await this.#first(known, { method, path, headers, body });
    } finally {
      release();
    }
  }

  /** Of those that take it; else the last refusal. */
  async #first(sockets: readonly string[], message: Message): Promise<SourceAnswer> {
    let last: SourceAnswer | null = null;
    for (const socket of sockets) {
      last = (await send(socket, message)) ?? last;
      if (last !== null && !NOT_FOR_IT.has(last.status)) return last;
    }
    if (last === null) throw new Refusal(503, 'its project is not there; send it again later', 'WEBHOOK_NOT_STORED');
    return last;
  }
}

interface Message {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body?: Buffer;
}

/** Null where nobody answers. */
function send(socketPath: string, { method, path, headers, body }: Message): Promise<SourceAnswer | null> {
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_WAY.has(name)));
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  return new Promise((resolve) => {
    const sending = open({ socketPath, method, path, headers: { ...own, ...length }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(null));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 502, content: contentOf(Buffer.concat(chunks).toString('utf8')) }),
      );
    });
    sending.setTimeout(ANSWER_MAX_MS, () => sending.destroy());
    sending.on('error', () => resolve(null));
    sending.end(body);
  });
}

/** Null: nothing but the status. */
function contentOf(text: string): object | null {
  if (text.trim() === '') return null;
  const content = JSON.parse(text) as Json;
  return isJsonObject(content) ? content : { content };
}
