/** A message of a source, proved and read: which event it is, or what is wrong with it. Computes alone, in any thread. */
import { createHash, randomUUID } from 'node:crypto';
import { eventDataFault, eventNameBytesMax } from '../../language/events/published-event.ts';
import { depthFault, isJsonObject, type Json } from '../../language/json.ts';
import type { WebhookSource } from '../../services/config/webhook-config.ts';
import { SENDERS } from '../../services/webhooks/senders/senders.ts';
import { fault, unread, type WebhookFault, type WebhookHeaders } from '../../services/webhooks/senders/sender.ts';
import { jsonIn } from './http-message.ts';
import { outlineOf } from './outline.ts';

/** What is larger is kept beside the event, which shows an outline of it, and is read in a thread of its own. */
export const WHOLE_BYTES_MAX = 1024 * 1024;
const ID = /^[!-~]{1,200}$/;
const KIND = /^[\w.:/-]{1,200}$/;

export interface MessageTask {
  source: Pick<WebhookSource, 'name' | 'kind' | 'secrets'>;
  headers: WebhookHeaders;
  body: Uint8Array;
}

export interface SourceEvent {
  name: string;
  id: string;
  data: Json;
  digest: string | null;
  /** Of its body, where that is taken once. */
  once?: string;
  /** Under which the whole body is to be kept. */
  payload?: string;
}

export type MessageRead = WebhookFault | { handshake: object } | { event: SourceEvent };

export async function readMessage({ source, headers, body }: MessageTask): Promise<MessageRead> {
  const sender = SENDERS[source.kind];
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const refused = await sender.verify(headers, source.secrets, bytes);
  if (refused !== null) return refused;
  const content = contentOf(headers, bytes);
  if (isFault(content)) return content;
  const meaning = sender.meaning(headers, content.value);
  if ('fault' in meaning) return meaning;
  if (meaning.is === 'handshake') return { handshake: meaning.answer };
  const { kind, id, isSigned, isTimeless } = meaning;
  const name = `${source.name}:${kind}`;
  if (!KIND.test(kind) || Buffer.byteLength(name) > eventNameBytesMax)
    return unread('what happened is said in letters, digits and . _ - / : alone');
  const digest = createHash('sha256').update(bytes).digest('hex');
  const kept = bytes.length > WHOLE_BYTES_MAX ? outlined(content.value, digest, bytes.length) : whole(content.value);
  if (isFault(kept)) return kept;
  return {
    event: {
      name,
      id: id === null ? randomUUID() : ID.test(id) ? id : createHash('sha256').update(id).digest('hex'),
      data: kept.value,
      digest: isSigned ? null : createHash('sha256').update(`${name}\n${digest}`).digest('hex'),
      ...(isTimeless ? { once: digest } : {}),
      ...(bytes.length > WHOLE_BYTES_MAX ? { payload: digest } : {}),
    },
  };
}

const isFault = (value: { value: Json } | WebhookFault): value is WebhookFault => 'fault' in value;

function contentOf(headers: WebhookHeaders, body: Buffer): { value: Json } | WebhookFault {
  try {
    return { value: isForm(headers) ? formIn(body) : jsonIn(body) };
  } catch {
    return unread('the body is not JSON in UTF-8');
  }
}

const isForm = (headers: WebhookHeaders): boolean =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '');

/** GitHub, if it is told so, and Slack put their JSON into a field. */
function formIn(body: Buffer): Json {
  const fields = new URLSearchParams(body.toString('utf8'));
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : jsonIn(Buffer.from(payload));
}

function whole(value: Json): { value: Json } | WebhookFault {
  const found = eventDataFault(value, 'the body');
  return found === null ? { value } : fault(422, 'WEBHOOK_BODY_INVALID', found.message);
}

function outlined(value: Json, id: string, bytes: number): { value: Json } | WebhookFault {
  // Of so large a body the parts are not counted: of what is shown they are.
  if (depthOf(value)) return fault(422, 'WEBHOOK_BODY_INVALID', 'the body is nested too deeply for a run');
  const { shown, leftOut } = outlineOf(value);
  const payload = { id, bytes, leftOut };
  return whole(isJsonObject(shown) ? { ...shown, payload } : { payload });
}

const depthOf = (value: Json): boolean =>
  depthFault(value, 'the body', { around: 1 })?.message.includes('deeper') === true;
