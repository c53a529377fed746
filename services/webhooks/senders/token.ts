/**
 * Whoever can send a token and no signature: `Authorization: Bearer TOKEN`, or `X-Webhook-Token: TOKEN`. What
 * happened is said by `X-Event-Type`, or by `type` or `event` in the body.
 */
import {
  fitsAny,
  JSON_HEADERS,
  LARGE_BYTES_MAX,
  missing,
  pong,
  PROOF_KIND,
  signedEvent,
  textAt,
  unfit,
  type Sender,
  type SignedRequest,
  type WebhookFault,
  type WebhookHeaders,
} from './sender.ts';

const IDS = ['x-event-id', 'webhook-id', 'idempotency-key'] as const;

export const token: Sender = {
  bytesMax: LARGE_BYTES_MAX,
  answerMs: 10_000,
  early: tokenFault,
  verify: (headers, secrets) => Promise.resolve(tokenFault(headers, secrets)),
  meaning(headers, content) {
    const kind = headers['x-event-type'] ?? textAt(content, 'type') ?? textAt(content, 'event') ?? 'message';
    const id = IDS.map((name) => headers[name]).find((value) => value !== undefined) ?? null;
    if (kind === PROOF_KIND) return pong;
    const event = signedEvent(kind, id);
    return event.is === 'event' ? { ...event, isSigned: false } : event;
  },
  proof: (secret) => Promise.resolve(request(secret, PROOF_KIND, 'sentinel-test', {})),
  event: (secret, { kind, id, data }) => Promise.resolve(request(secret, kind, id, data)),
};

function tokenFault(headers: WebhookHeaders, secrets: readonly string[]): WebhookFault | null {
  const bearer = /^Bearer +(.+)$/i.exec(headers['authorization'] ?? '')?.[1]?.trim();
  const given = bearer ?? headers['x-webhook-token'];
  if (given === undefined) return missing('Authorization (Bearer TOKEN) or X-Webhook-Token');
  return fitsAny([given], secrets) ? null : unfit('the token is another one');
}

const request = (secret: string, kind: string, id: string, data: object): SignedRequest => ({
  headers: { ...JSON_HEADERS, authorization: `Bearer ${secret}`, 'x-event-type': kind, 'x-event-id': id },
  body: JSON.stringify(data),
});
