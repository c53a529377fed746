/**
 * `POST /hooks/NAME`: messages of the sources that `sentinel.config` names. Each is proved before it is parsed,
 * and its event is in the store before it is answered.
 */
import type { IncomingMessage } from 'node:http';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { WebhookSource } from '../../services/config/webhook-config.ts';
import { bodyKey, SENDERS } from '../../services/webhooks/senders/senders.ts';
import type { WebhookFault } from '../../services/webhooks/senders/sender.ts';
import { bodyOf, headersOf, Refusal } from './http-message.ts';
import type { MessageReader } from './message-reader.ts';
import type { SourceEvent } from './read-message.ts';
import { defined } from '../../language/defined.ts';

/** Before the sender gives up, it hears that it shall send again. */
const SPARE_MS = 500;

export interface SourceAnswer {
  status: number;
  /** Null: empty. */
  content: object | null;
}

export class SourceDoor {
  readonly #sources: ReadonlyMap<string, WebhookSource>;
  readonly #store: Pick<Store, 'webhooks' | 'payloads'>;
  readonly #reader: MessageReader;

  constructor(sources: readonly WebhookSource[], store: Pick<Store, 'webhooks' | 'payloads'>, reader: MessageReader) {
    this.#reader = reader;
    this.#sources = new Map(sources.map((source) => [source.name, source]));
    this.#store = store;
  }

  has(name: string): boolean {
    return this.#sources.has(name);
  }

  async answer(request: IncomingMessage, name: string): Promise<SourceAnswer> {
    const source = this.#sources.get(name);
    if (source === undefined)
      throw new Refusal(404, `no source of sentinel.config is named "${name}"`, 'WEBHOOK_SOURCE_UNKNOWN');
    if (request.method !== 'POST') throw new Refusal(405, 'messages are sent with POST', 'WEBHOOK_METHOD_WRONG');
    if (source.fault !== null)
      throw new Refusal(503, `${name} receives nothing: ${source.fault}`, 'WEBHOOK_SOURCE_CLOSED');
    const sender = SENDERS[source.kind];
    pass(sender.early(headersOf(request), source.secrets));
    return within(sender.answerMs - SPARE_MS, this.#receive(request, source));
  }

  async #receive(request: IncomingMessage, source: WebhookSource): Promise<SourceAnswer> {
    const { bytesMax, wantsEmptyAnswer } = SENDERS[source.kind];
    const { hold, release } = this.#reader.holding();
    try {
      const { name, kind, secrets } = source;
      const given = await bodyOf(request, bytesMax, { hold, code: 'WEBHOOK_BODY_TOO_LARGE' });
      const { read, body } = await this.#reader.read({
        source: { name, kind, secrets },
        headers: headersOf(request),
        body: given,
      });
      if ('fault' in read) throw refusalOf(read);
      if ('handshake' in read) return { status: 200, content: read.handshake };
      const { isNew, id } = await this.#keep(source, read.event, body);
      if (wantsEmptyAnswer === true) return { status: 200, content: null };
      return { status: isNew ? 202 : 200, content: { ok: true, id, event: read.event.name, isNew } };
    } finally {
      release();
    }
  }

  async #keep(
    source: WebhookSource,
    { name, id, data, digest, once, payload }: SourceEvent,
    body: Uint8Array,
  ): Promise<{ id: string; isNew: boolean }> {
    if (payload !== undefined) await this.#store.payloads.put(bodyKey(payload), body);
    const message = { id, name, data, digest, source: source.name, ...defined({ once }) };
    const verdict = await this.#store.webhooks.receive(message);
    if (verdict === 'replayed')
      throw new Refusal(
        409,
        'this body was received before, under another id; its signature says nothing of when it was sent, so it is taken once',
        'WEBHOOK_REPLAYED',
      );
    if (verdict === 'other') throw new Refusal(409, `the id "${id}" was used for another message`, 'WEBHOOK_REPLAYED');
    return { id, isNew: verdict === 'new' };
  }
}

const refusalOf = ({ fault: { status, message, code } }: WebhookFault): Refusal => new Refusal(status, message, code);

function pass(found: WebhookFault | null): void {
  if (found !== null) throw refusalOf(found);
}

/** What is stored later all the same is known when it comes again. */
async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Refusal(503, 'the event could not be stored in time; send it again', 'WEBHOOK_NOT_STORED')),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
