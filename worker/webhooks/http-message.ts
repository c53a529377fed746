/** A request as every door of the listener reads it, and how it is answered. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '../../language/json.ts';
import { exactJson } from '../../language/numbers/exact-json.ts';
import type { WebhookCode, WebhookHeaders } from '../../services/webhooks/senders/sender.ts';

export class Refusal extends Error {
  readonly status: number;
  readonly code: WebhookCode | undefined;

  constructor(status: number, message: string, code?: WebhookCode) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

export const headersOf = ({ headers }: IncomingMessage): WebhookHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, one(value)]));

/** `hold`: hears of all bytes that are kept, and may refuse them. `code`: of the refusal of what is too large. */
export async function bodyOf(
  request: IncomingMessage,
  bytesMax: number,
  { hold, code }: { hold?: (bytes: number) => void; code?: WebhookCode } = {},
): Promise<Buffer> {
  const tooLarge = (): Refusal =>
    new Refusal(413, `a body has at most ${bytesMax} bytes; send a reference to what is larger`, code);
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    hold?.(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a sender says, in UTF-8, its numbers as they are written; an empty body says nothing. */
export function jsonIn(body: Uint8Array): Json {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  return text === '' ? null : exactJson(text);
}

/** Null: nothing but the status. */
export function reply(response: ServerResponse, status: number, content: object | null): void {
  if (response.headersSent || response.destroyed) return;
  // A body that was not read to its end would be taken for the next request.
  const headers = status >= 400 ? { connection: 'close' } : {};
  if (content === null) response.writeHead(status, headers).end();
  else
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(`${JSON.stringify(content)}\n`);
}
