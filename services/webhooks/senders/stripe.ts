/** Stripe: `Stripe-Signature: t=SECONDS,v1=HEX`, over the time, a point and the body. Other versions are not looked at. */
import { createHmac } from 'node:crypto';
import {
  fitsAny,
  JSON_HEADERS,
  missing,
  pong,
  PROOF_KIND,
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

const SIGNATURE = 'stripe-signature';
/** More than a sender that replaces its secrets sends. */
export const SIGNATURES_MAX = 10;

export const stripe: Sender = {
  bytesMax: SMALL_BYTES_MAX,
  answerMs: 10_000,
  early(headers) {
    const header = headers[SIGNATURE];
    return header === undefined ? missing('Stripe-Signature') : timeFault(partsOf(header).time);
  },
  verify(headers, secrets, body) {
    const { time, given } = partsOf(headers[SIGNATURE] ?? '');
    const early = timeFault(time);
    if (early !== null || time === undefined) return Promise.resolve(early);
    const expected = secrets.map((secret) => signatureOf(secret, time, body));
    return Promise.resolve(fitsAny(given, expected) ? null : unfit());
  },
  meaning(_headers, content) {
    const [kind, id] = [textAt(content, 'type'), textAt(content, 'id')];
    if (kind === undefined || id === undefined)
      return unread('the body has no "type" and "id", as events of Stripe have');
    return kind === PROOF_KIND ? pong : signedEvent(kind, id);
  },
  proof: (secret) => Promise.resolve(request(secret, { id: 'evt_sentinel_test', object: 'event', type: PROOF_KIND })),
  event: (secret, { kind, id, data }) =>
    Promise.resolve(request(secret, { id, object: 'event', type: kind, data: { object: data } })),
};

function partsOf(header: string): { time: string | undefined; given: string[] } {
  const parts = header.split(',').map((part) => part.trim());
  return {
    time: parts.find((part) => part.startsWith('t='))?.slice(2),
    given: parts.flatMap((part) => (part.startsWith('v1=') ? [part.slice(3)] : [])).slice(0, SIGNATURES_MAX),
  };
}

const signatureOf = (secret: string, time: string, body: Buffer | string): string =>
  createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');

function request(secret: string, data: object): SignedRequest {
  const [body, time] = [JSON.stringify(data), seconds()];
  return { headers: { ...JSON_HEADERS, [SIGNATURE]: `t=${time},v1=${signatureOf(secret, time, body)}` }, body };
}
