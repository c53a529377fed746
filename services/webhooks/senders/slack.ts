/**
 * Slack: `X-Slack-Signature: v0=HEX` over the version, the time and the body. Events come as JSON, commands and
 * actions as a form; a message that asks for the address is answered with its challenge.
 */
import { createHash, createHmac } from 'node:crypto';
import {
  fitsAny,
  isFields,
  JSON_HEADERS,
  missing,
  seconds,
  signedEvent,
  SMALL_BYTES_MAX,
  textAt,
  timeFault,
  unfit,
  unread,
  type Sender,
  type SignedRequest,
} from './sender.ts';

const [SIGNATURE, TIME] = ['x-slack-signature', 'x-slack-request-timestamp'] as const;

export const slack: Sender = {
  bytesMax: SMALL_BYTES_MAX,
  answerMs: 3000,
  // Slack shows the answer to a command to whoever gave it.
  wantsEmptyAnswer: true,
  early(headers) {
    if (headers[SIGNATURE] === undefined) return missing('X-Slack-Signature');
    return timeFault(headers[TIME]);
  },
  verify(headers, secrets, body) {
    const time = headers[TIME] ?? '';
    const early = timeFault(time);
    if (early !== null) return Promise.resolve(early);
    const expected = secrets.map((secret) => signatureOf(secret, time, body));
    return Promise.resolve(fitsAny([headers[SIGNATURE] ?? ''], expected) ? null : unfit());
  },
  meaning(headers, content) {
    const type = textAt(content, 'type');
    const challenge = textAt(content, 'challenge');
    if (type === 'url_verification' && challenge !== undefined) return { is: 'handshake', answer: { challenge } };
    const inner = isFields(content) ? textAt(content['event'], 'type') : undefined;
    const kind = inner ?? type ?? (textAt(content, 'command') === undefined ? undefined : 'command');
    if (kind === undefined) return unread('the body is neither an event, nor a command, nor an action of Slack');
    const id = textAt(content, 'event_id') ?? textAt(content, 'trigger_id');
    // What has no id is known by all that is signed.
    return signedEvent(kind, id ?? digestOf(headers[SIGNATURE] ?? ''));
  },
  proof: (secret) => Promise.resolve(request(secret, { type: 'url_verification', challenge: 'sentinel-test' })),
  event: (secret, { kind, id, data }) =>
    Promise.resolve(request(secret, { type: 'event_callback', event_id: id, event: { type: kind, ...data } })),
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const signatureOf = (secret: string, time: string, body: Buffer | string): string =>
  `v0=${createHmac('sha256', secret).update(`v0:${time}:`).update(body).digest('hex')}`;

function request(secret: string, data: object): SignedRequest {
  const [body, time] = [JSON.stringify(data), seconds()];
  return { headers: { ...JSON_HEADERS, [TIME]: time, [SIGNATURE]: signatureOf(secret, time, body) }, body };
}
