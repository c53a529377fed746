/**
 * Events from other systems over HTTP: `POST /events/NAME`, a JSON body, signed (signature.ts); `POST /hooks/NAME` of the
 * senders that a project names (worker/webhooks/). `GET /health`
 * answers whoever asks that it is this installation that listens.
 *
 * Served by the worker when there is a secret, on the loopback address unless told otherwise. Of the
 * workers on one machine the first has the port; the others try it again and again, so that one of
 * them takes over when the first ends. An event is in the store before it is answered for, and so is the id of
 * its message: no worker takes that for another message, now or after a restart.
 */
import { rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Json } from '../../language/json.ts';
import { eventDataFault, eventNameBytesMax } from '../../language/events/published-event.ts';
import { reservedEventFault } from '../../language/events/reserved-events.ts';
import { defined } from '../../language/defined.ts';
import { isAway } from '../../prisma/store/connection/unavailable.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { WebhookSource } from '../../services/config/webhook-config.ts';
import type { WebhookAddress } from '../../services/config/worker-settings.ts';
import { HEALTH_PATH, isNonce, proofOf, provingSecrets } from '../../services/webhooks/listener-proof.ts';
import { findListener, troubleOf } from '../../services/webhooks/webhook-listener.ts';
import { bodyOf, jsonIn, one, Refusal, reply } from '../webhooks/http-message.ts';
import { openSocketFolder } from '../webhooks/door-sockets.ts';
import { MessageReader } from '../webhooks/message-reader.ts';
import { OtherDoors } from '../webhooks/other-doors.ts';
import { SourceDoor } from '../webhooks/source-door.ts';
import { type Message, verify } from './signature.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export const BODY_BYTES_MAX = 256 * 1024;
const ID_CHARS_MAX = 200;
const PORT_RETRY_MS = 5_000;
const REQUEST_MAX_MS = 10_000;
const RETRY_AFTER_S = 10;

export type WebhookParts = Pick<Store, 'webhooks' | 'installation' | 'payloads'>;

/** Where the listener is, and the common secrets, of which there may be none. `socket`: in place of the address. */
export type ListenerSettings = WebhookAddress & { secrets: readonly string[]; socket?: string };

export interface Doors {
  sources?: readonly WebhookSource[];
  /** Of projects with workers of their own. */
  sockets?: () => readonly string[];
}

export class Webhooks {
  readonly #settings: ListenerSettings;
  /** What proves whose listener it is: the common secrets, then those of the sources. */
  readonly #proving: readonly string[];
  readonly #sources: SourceDoor;
  readonly #others: OtherDoors;
  readonly #store: WebhookParts;
  readonly #say: (text: string) => void;
  #installation: string | undefined;
  /** What was said last of why it does not listen. */
  #said = '';
  #server: Server | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    settings: ListenerSettings,
    store: WebhookParts,
    say: (text: string) => void,
    { sources = [], sockets = () => [] }: Doors = {},
  ) {
    this.#settings = settings;
    this.#proving = provingSecrets(settings.secrets, sources);
    const reader = new MessageReader();
    this.#sources = new SourceDoor(sources, store, reader);
    this.#others = new OtherDoors(sockets, reader);
    this.#store = store;
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
    const server = createServer(
      { requestTimeout: REQUEST_MAX_MS, headersTimeout: REQUEST_MAX_MS },
      (request, response) => void this.#answer(request, response),
    );
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#closed || server.listening) return;
      void this.#tell(error);
      this.#retry = setTimeout(() => this.#listen(server), PORT_RETRY_MS);
    });
    server.on('listening', () => (this.#said = ''));
    this.#listen(server);
    this.#server = server;
  }

  #listen(server: Server): void {
    const { host, port, socket } = this.#settings;
    if (socket === undefined) return void server.listen(port, host);
    openSocketFolder(socket);
    // Of a worker that was killed; there is one for each project.
    rmSync(socket, { force: true });
    server.listen(socket);
  }

  /** Says once why it does not listen; that another worker of this installation does is no trouble. */
  async #tell(error: NodeJS.ErrnoException): Promise<void> {
    const { host, port } = this.#settings;
    const trouble =
      error.code === 'EADDRINUSE'
        ? await this.#holder()
        : `webhooks cannot be served on ${host}:${port} (${error.message})`;
    if (trouble === null || trouble === this.#said || this.#closed) return;
    this.#said = trouble;
    this.#say(`${trouble}; trying again`);
  }

  async #holder(): Promise<string | null> {
    // Without the store nobody can tell whose it is; it is looked at again.
    const installation = await this.#ownInstallation().catch(() => null);
    if (installation === null) return null;
    const listener = await findListener({ ...this.#settings, secrets: this.#proving }, installation);
    if (listener.is !== 'stranger') return null;
    return `webhooks are not received: ${troubleOf(listener, this.#settings).found}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const [path, query = ''] = (request.url ?? '/').split('?');
      if (path === HEALTH_PATH) return reply(response, 200, await this.#health(request, new URLSearchParams(query)));
      const source = /^\/hooks\/([^/]+)$/.exec(path ?? '')?.[1];
      if (source !== undefined) {
        const others = this.#sources.has(source) ? null : await this.#others.answer(request);
        const { status, content } = others ?? (await this.#sources.answer(request, source));
        return reply(response, status, content);
      }
      const { id, isNew } = await this.#receive(request);
      reply(response, isNew ? 202 : 200, { ok: true, id, isNew });
    } catch (error) {
      if (error instanceof Refusal) return this.#refuse(response, error);
      const finding = error instanceof Error ? error.message : String(error);
      this.#say(`a webhook was not stored: ${finding}`);
      if (!isAway(error)) return reply(response, 422, { ok: false, error: `the event cannot be stored: ${finding}` });
      response.setHeader('retry-after', RETRY_AFTER_S);
      reply(response, 503, { ok: false, error: 'the event could not be stored; send it again later' });
    }
  }

  #refuse(response: ServerResponse, { status, code, message }: Refusal): void {
    if (status === 503) response.setHeader('retry-after', RETRY_AFTER_S);
    reply(response, status, { ok: false, ...defined({ code }), error: message });
  }

  /** With a number used once, a proof of which installation it is that answers. */
  async #health({ method }: IncomingMessage, query: URLSearchParams): Promise<object> {
    if (method !== 'GET') throw new Refusal(405, 'health is asked for with GET');
    const nonce = query.get('nonce');
    if (nonce === null) return { ok: true };
    if (!isNonce(nonce)) throw new Refusal(400, 'a nonce has 32 to 64 hexadecimal digits');
    const [secret] = this.#proving;
    if (secret === undefined) return { ok: true };
    return { ok: true, proof: proofOf(secret, await this.#ownInstallation(), nonce) };
  }

  async #ownInstallation(): Promise<string> {
    this.#installation ??= await this.#store.installation();
    return this.#installation;
  }

  async #receive(request: IncomingMessage): Promise<{ id: string; isNew: boolean }> {
    const name = nameIn(request);
    if (this.#settings.secrets.length === 0)
      throw new Refusal(401, 'SENTINEL_WEBHOOK_SECRET is not set where the worker starts, so only its sources send');
    const id = idIn(request);
    const message = { id: id ?? '', name, body: await bodyOf(request, BODY_BYTES_MAX) };
    const verdict = verify(one(request.headers['x-sentinel-signature']), message, this.#settings.secrets, Date.now());
    if (!verdict.ok) throw new Refusal(401, verdict.finding);
    const data = parsed(message.body);
    const fault = eventDataFault(data, 'the body', BODY_BYTES_MAX);
    if (fault !== null) throw new Refusal(422, fault.message);
    const key = id ?? idOf(message, verdict.seconds);
    crashPoint('webhook.proved', { key });
    const received = await this.#store.webhooks.receive({
      id: key,
      name,
      data,
      digest: digestOf([name], message.body),
    });
    crashPoint('webhook.stored', { key });
    if (received === 'other')
      throw new Refusal(409, `the id "${key}" was used for another message; give each message an id of its own`);
    return { id: key, isNew: received === 'new' };
  }
}

/** Of a message without one: the same message again has the same. */
const idOf = ({ name, body }: Message, seconds: number): string => digestOf([String(seconds), name], body);

function digestOf(lines: readonly string[], body: Uint8Array): string {
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .update(body)
    .digest('hex');
}

function nameIn({ method, url = '/' }: IncomingMessage): string {
  const path = url.split('?')[0] ?? '';
  const found = /^\/events\/([^/]+)$/.exec(path);
  if (found === null)
    throw new Refusal(404, 'there is nothing here; send POST /events/NAME, or POST /hooks/NAME of a source');
  if (method !== 'POST') throw new Refusal(405, 'events are sent with POST');
  const name = decoded(found[1] ?? '');
  if (name.trim() === '' || Buffer.byteLength(name) > eventNameBytesMax)
    throw new Refusal(400, `an event's name has 1 to ${eventNameBytesMax} bytes`);
  // A line end could be read as the end of what is signed.
  if (/\p{Cc}/u.test(name)) throw new Refusal(400, "an event's name has no control characters");
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
  if (!/^[!-~]+$/.test(id) || id.length > ID_CHARS_MAX)
    throw new Refusal(400, `X-Event-Id has 1 to ${ID_CHARS_MAX} characters of ASCII, and no blanks`);
  return id;
}

function parsed(body: Buffer): Json {
  try {
    return jsonIn(body);
  } catch {
    throw new Refusal(400, 'the body is not JSON in UTF-8');
  }
}
