/**
 * GitLab: its secret token comes as it is in `X-Gitlab-Token`; its signing token (`whsec_…`) signs id, time and body
 * as Standard Webhooks do.
 */
import { earlyStandard, standardRequest, verifyStandard } from './standard.ts';
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
  unread,
  type Sender,
  type SignedRequest,
  type WebhookFault,
  type WebhookHeaders,
} from './sender.ts';

const TOKEN = 'x-gitlab-token';
const isSigning = (secret: string): boolean => secret.startsWith('whsec_');

export const gitlab: Sender = {
  bytesMax: LARGE_BYTES_MAX,
  answerMs: 10_000,
  early(headers, secrets) {
    const tokens = secrets.filter((secret) => !isSigning(secret));
    if (headers['webhook-signature'] !== undefined && tokens.length < secrets.length) return earlyStandard(headers);
    return tokenFault(headers, tokens);
  },
  verify(headers, secrets, body) {
    const signing = secrets.filter(isSigning);
    if (headers['webhook-signature'] !== undefined && signing.length > 0)
      return Promise.resolve(verifyStandard(headers, signing, body));
    const tokens = secrets.filter((secret) => !isSigning(secret));
    return Promise.resolve(tokenFault(headers, tokens));
  },
  meaning(headers, content) {
    const kind = textAt(content, 'object_kind') ?? textAt(content, 'event_name') ?? spoken(headers['x-gitlab-event']);
    if (kind === undefined) return unread('neither object_kind in the body nor X-Gitlab-Event says what happened');
    if (kind === PROOF_KIND) return pong;
    const signedId = headers['webhook-id'];
    const event = signedEvent(kind, signedId ?? headers['idempotency-key'] ?? null);
    return event.is === 'event' && signedId === undefined ? { ...event, isSigned: false } : event;
  },
  proof: (secret) => Promise.resolve(request(secret, 'sentinel-test', { object_kind: PROOF_KIND })),
  event: (secret, { kind, id, data }) => Promise.resolve(request(secret, id, { object_kind: kind, ...data })),
};

function tokenFault(headers: WebhookHeaders, tokens: readonly string[]): WebhookFault | null {
  const token = headers[TOKEN];
  if (tokens.length === 0) return missing('webhook-signature (give the webhook the signing token at GitLab)');
  if (token === undefined) return missing('X-Gitlab-Token (give the webhook a secret token at GitLab)');
  return fitsAny([token], tokens) ? null : unfit('the token is another one');
}

/** `Merge Request Hook`. */
const spoken = (header: string | undefined): string | undefined =>
  header
    ?.replace(/ hook$/i, '')
    .toLowerCase()
    .replaceAll(' ', '_');

function request(secret: string, id: string, data: object): SignedRequest {
  if (isSigning(secret)) return standardRequest(secret, id, data);
  return { headers: { ...JSON_HEADERS, 'idempotency-key': id, [TOKEN]: secret }, body: JSON.stringify(data) };
}
