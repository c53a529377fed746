/**
 * Events from other systems over HTTP: `POST /events/NAME`, a JSON body, signed (signature.ts).
 *
 * Served by the worker when there is a secret, on the loopback address unless told otherwise. Of the
 * workers on one machine the first has the port; the others try it again and again, so that one of
 * them takes over when the first ends. An event is in the store before it is answered for.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Json } from '../../language/json.ts';
import { eventDataFault, eventNameBytesMax } from '../../language/events/published-event.ts';
import { reservedEventFault } from '../../language/events/reserved-events.ts';
import { isAway } from '../../prisma/store/connection/unavailable.ts';
import type { TriggerStore } from '../../prisma/store/contract/trigger-contract.ts';
import type { WebhookSettings } from '../../services/config/worker-settings.ts';
import { verify } from './signature.ts';

export const BODY_BYTES_MAX = 256 * 1024;
const ID_BYTES_MAX = 200;
const SIGNATURES_KEPT = 100_000;
const PORT_RETRY_MS = 5_000;
const REQUEST_MAX_MS = 10_000;
const RETRY_AFTER_S = 10;

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class Webhooks {
  readonly #settings: WebhookSettings;
  readonly #triggers: TriggerStore;
  readonly #say: (text: string) => void;
  /** The event each signature was used for: an overheard message cannot be sent again as another. */
  readonly #used = new LRUCache<string, string>({ max: SIGNATURES_KEPT });
  #server: Server | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: WebhookSettings, triggers: TriggerStore, say: (text: string) => void) {
    this.#settings = settings;
    this.#triggers = triggers;
    this.#say = say;
    this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const server = this.#server;
    if (server?.listening !== true) return;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeIdleConnections();
    });
  }

  #open(): void {
    const { host, port } = this.#settings;
    const server = createServer(
      { requestTimeout: REQUEST_MAX_MS, headersTimeout: REQUEST_MAX_MS },
      (request, response) => void this.#answer(request, response),
    );
    let isFirst = true;
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#closed || server.listening) return;
      if (isFirst && error.code !== 'EADDRINUSE')
        this.#say(`webhooks cannot be served on ${host}:${port} (${error.message}); trying again`);
      isFirst = false;
      this.#retry = setTimeout(() => server.listen(port, host), PORT_RETRY_MS);
    });
    server.listen(port, host);
    this.#server = server;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { id, isNew } = await this.#receive(request);
      reply(response, isNew ? 202 : 200, { ok: true, id, isNew });
    } catch (error) {
      if (error instanceof Refusal) return reply(response, error.status, { ok: false, error: error.message });
      const finding = error instanceof Error ? error.message : String(error);
      this.#say(`a webhook was not stored: ${finding}`);
      if (!isAway(error)) return reply(response, 422, { ok: false, error: `the event cannot be stored: ${finding}` });
      response.setHeader('retry-after', RETRY_AFTER_S);
      reply(response, 503, { ok: false, error: 'the event could not be stored; send it again later' });
    }
  }

  async #receive(request: IncomingMessage): Promise<{ id: string; isNew: boolean }> {
    const name = nameIn(request);
    const id = idIn(request);
    const body = await bodyOf(request);
    const verdict = verify(one(request.headers['x-sentinel-signature']), body, this.#settings.secrets, Date.now());
    if (!verdict.ok) throw new Refusal(401, verdict.finding);
    const data = parsed(body);
    const fault = eventDataFault(data, 'the body', BODY_BYTES_MAX);
    if (fault !== null) throw new Refusal(422, fault.message);
    const key = id ?? createHash('sha256').update(`${name} ${verdict.signature}`).digest('hex');
    const use = `${name} ${key}`;
    if ((this.#used.get(verdict.signature) ?? use) !== use) {
      throw new Refusal(409, 'this signed message was already received as another event; sign each message anew');
    }
    this.#used.set(verdict.signature, use);
    const { isNew } = await this.#triggers.publish({ source: '@webhook', id: key, name, data, project: null });
    return { id: key, isNew };
  }
}

function nameIn({ method, url = '/' }: IncomingMessage): string {
  const path = url.split('?')[0] ?? '';
  const found = /^\/events\/([^/]+)$/.exec(path);
  if (found === null) throw new Refusal(404, 'there is nothing here; send POST /events/NAME');
  if (method !== 'POST') throw new Refusal(405, 'events are sent with POST');
  const name = decoded(found[1] ?? '');
  if (name.trim() === '' || Buffer.byteLength(name) > eventNameBytesMax)
    throw new Refusal(400, `an event's name has 1 to ${eventNameBytesMax} bytes`);
  const reserved = reservedEventFault(name);
  if (reserved !== null) throw new Refusal(403, reserved.message);
  return name;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, `the event's name is not a valid part of a URL`);
  }
}

function idIn(request: IncomingMessage): string | null {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal(415, 'send Content-Type: application/json');
  const id = one(request.headers['x-event-id']);
  if (id === undefined) return null;
  if (id.trim() === '' || Buffer.byteLength(id) > ID_BYTES_MAX)
    throw new Refusal(400, `X-Event-Id has 1 to ${ID_BYTES_MAX} bytes`);
  return id;
}

const one = (header: string | string[] | undefined): string | undefined => (Array.isArray(header) ? header[0] : header);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = (): Refusal =>
    new Refusal(413, `a body has at most ${BODY_BYTES_MAX} bytes; send a reference to what is larger`);
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(body: Buffer): Json {
  try {
    return body.length === 0 ? null : (JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Json);
  } catch {
    throw new Refusal(400, 'the body is not JSON in UTF-8');
  }
}

function reply(response: ServerResponse, status: number, content: object): void {
  if (response.headersSent || response.destroyed) return;
  // A body that was not read to its end would be taken for the next request.
  const headers = { 'content-type': 'application/json', ...(status >= 400 ? { connection: 'close' } : {}) };
  response.writeHead(status, headers).end(`${JSON.stringify(content)}\n`);
}
