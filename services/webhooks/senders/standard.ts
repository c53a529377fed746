/** Standard Webhooks (standardwebhooks.com): id, time and body are signed, under a key in base64. */
import { Webhook } from 'standardwebhooks';
import {
  JSON_HEADERS,
  missing,
  pong,
  PROOF_KIND,
  SMALL_BYTES_MAX,
  signedEvent,
  textAt,
  timeFault,
  unfit,
  unread,
  type Sender,
  type SignedRequest,
  type WebhookFault,
  type WebhookHeaders,
} from './sender.ts';

export const standard: Sender = {
  bytesMax: SMALL_BYTES_MAX,
  answerMs: 10_000,
  early: earlyStandard,
  verify: (headers, secrets, body) => Promise.resolve(verifyStandard(headers, secrets, body)),
  meaning(headers, content) {
    const kind = textAt(content, 'type') ?? 'event';
    if (headers['webhook-id'] === undefined) return unread('the header webhook-id is missing');
    return kind === PROOF_KIND ? pong : signedEvent(kind, headers['webhook-id']);
  },
  proof: (secret) => Promise.resolve(standardRequest(secret, 'sentinel-test', { type: PROOF_KIND })),
  event: (secret, { kind, id, data }) => Promise.resolve(standardRequest(secret, id, { type: kind, ...data })),
};

export function earlyStandard(headers: WebhookHeaders): WebhookFault | null {
  const absent = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].find((name) => headers[name] === undefined);
  return absent === undefined ? timeFault(headers['webhook-timestamp']) : missing(absent);
}

export function verifyStandard(headers: WebhookHeaders, secrets: readonly string[], body: Buffer): WebhookFault | null {
  const early = earlyStandard(headers);
  if (early !== null) return early;
  const given = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headers[name] ?? '']),
  );
  const text = body.toString('utf8');
  return secrets.map((secret) => fits(secret, text, given)).includes(true) ? null : unfit();
}

function fits(secret: string, text: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(text, headers, { jsonParse: false });
    return true;
  } catch {
    // The library says by an error that it does not.
    return false;
  }
}

export function standardRequest(secret: string, id: string, data: object): SignedRequest {
  const body = JSON.stringify(data);
  const now = new Date();
  return {
    headers: {
      ...JSON_HEADERS,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    },
    body,
  };
}
