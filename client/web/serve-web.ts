/**
 * The Temporal Web UI for the user of a home, on a port of loopback: what the UI's own server behind its socket
 * answers, for whoever is admitted (admission.ts), with the values of runs opened.
 */
import {
  createServer,
  request,
  type IncomingMessage,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { SealKeys } from '../../services/config/seal-key.ts';
import { decodePayloads } from '../../services/seal/decode-payloads.ts';
import { Admission, TOKEN } from './admission.ts';

const HOST = '127.0.0.1';
const SETTINGS_PATH = '/api/v1/settings';
const CODEC_PATH = '/codec';
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Where the UI's own server listens. */
export type UiPlace = { socketPath: string } | { host: string; port: number };

export interface WebOptions {
  ui: UiPlace;
  /** Null while there are none; the first run makes them. */
  keys: () => Promise<SealKeys | null>;
  /** Where the printed address leads; begins with a slash. */
  first: string;
  /** 0: any that is free. */
  port: number;
}

export interface ServedWeb {
  /** Opens once. */
  url: string;
  close(): Promise<void>;
}

export async function serveWeb(options: WebOptions): Promise<ServedWeb> {
  const server = createServer();
  const port = await listening(server, options.port);
  const admission = new Admission(port);
  server.on('request', (asked: IncomingMessage, answer: ServerResponse) => {
    const verdict = admission.judge(asked);
    if (verdict.may === 'not') return say(answer, verdict.status, verdict.why);
    if (verdict.may === 'enter') {
      answer.writeHead(303, { location: options.first, 'set-cookie': verdict.cookie, 'cache-control': 'no-store' });
      return void answer.end();
    }
    serve(options, admission, asked, answer).catch((error: unknown) => {
      say(answer, 502, `the Web UI does not answer: ${error instanceof Error ? error.message : String(error)}`);
    });
  });
  return {
    url: `${admission.origin}/?${TOKEN}=${admission.token}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listening(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function serve(
  { ui, keys }: WebOptions,
  admission: Admission,
  asked: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const path = (asked.url ?? '/').split('?')[0];
  if (path === `${CODEC_PATH}/decode` && asked.method === 'POST') return await decode(await keys(), asked, answer);
  const reply = await askUi(ui, admission, asked);
  if (path !== SETTINGS_PATH || reply.statusCode !== 200) {
    answer.writeHead(reply.statusCode ?? 502, { ...reply.headers, ...GUARDS });
    reply.pipe(answer);
    return;
  }
  // The UI asks here how values are opened: where it came from, with its cookie.
  const settings = JSON.parse(await text(reply)) as Record<string, unknown>;
  const codec = {
    Endpoint: `http://${asked.headers.host ?? ''}${CODEC_PATH}`,
    PassAccessToken: false,
    IncludeCredentials: false,
  };
  sayJson(answer, { ...settings, Codec: codec });
}

/** A page of another origin does not show it in a frame. */
const GUARDS = { 'x-frame-options': 'DENY', 'content-security-policy': "frame-ancestors 'none'" };

function askUi(ui: UiPlace, admission: Admission, asked: IncomingMessage): Promise<IncomingMessage> {
  const {
    host: _host,
    origin: _origin,
    referer: _referer,
    cookie,
    'accept-encoding': _encoding,
    ...headers
  } = asked.headers;
  const others = (cookie ?? '')
    .split('; ')
    .filter((pair) => pair !== '' && !pair.startsWith(`${admission.cookieName}=`));
  const options: RequestOptions = {
    ...ui,
    agent: false,
    method: asked.method,
    path: asked.url,
    headers: { ...headers, host: 'localhost', ...(others.length === 0 ? {} : { cookie: others.join('; ') }) },
  };
  return new Promise((resolve, reject) => {
    const asking = request(options, resolve);
    asking.once('error', reject);
    asked.pipe(asking);
  });
}

async function decode(keys: SealKeys | null, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  if (keys === null) return say(answer, 404, 'nothing was sealed yet');
  const opened = await decodePayloads(keys, await bodyOf(asked)).catch(() => null);
  if (opened === null) return say(answer, 400, 'that is no body of payloads');
  sayJson(answer, opened);
}

/** Null where it is no JSON, or too long. */
async function bodyOf(asked: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of asked as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

function say(answer: ServerResponse, status: number, finding: string): void {
  if (answer.headersSent) return void answer.destroy();
  // A body that was not read to its end would be taken for the next request.
  answer.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close', ...GUARDS });
  answer.end(`${finding}\n`);
}

function sayJson(answer: ServerResponse, content: object): void {
  answer.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store', ...GUARDS });
  answer.end(JSON.stringify(content));
}
