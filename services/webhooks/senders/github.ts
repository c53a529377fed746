/**
 * GitHub: `X-Hub-Signature-256` over the body. Neither the time nor the id of the delivery is signed, so a body is
 * taken once, under whichever id it comes again.
 */
import { sign, verify } from '@octokit/webhooks-methods';
import {
  JSON_HEADERS,
  LARGE_BYTES_MAX,
  missing,
  pong,
  unfit,
  unread,
  type Sender,
  type SignedRequest,
} from './sender.ts';

const SIGNATURE = 'x-hub-signature-256';

export const github: Sender = {
  bytesMax: LARGE_BYTES_MAX,
  answerMs: 10_000,
  early: (headers) =>
    headers[SIGNATURE] === undefined ? missing('X-Hub-Signature-256 (give the webhook a secret at GitHub)') : null,
  async verify(headers, secrets, body) {
    const text = body.toString('utf8');
    const signature = headers[SIGNATURE] ?? '';
    if (text === '' || signature === '') return unfit();
    const fits = await Promise.all(secrets.map((secret) => verify(secret, text, signature)));
    return fits.includes(true) ? null : unfit();
  },
  meaning(headers) {
    const [kind, id] = [headers['x-github-event'], headers['x-github-delivery']];
    if (kind === undefined || id === undefined) return unread('X-GitHub-Event or X-GitHub-Delivery is missing');
    return kind === 'ping' ? pong : { is: 'event', kind, id, isSigned: false, isTimeless: true };
  },
  proof: (secret) => request(secret, 'ping', 'sentinel-test', { zen: 'Practicality beats purity.' }),
  event: (secret, { kind, id, data }) => request(secret, kind, id, data),
};

async function request(secret: string, kind: string, id: string, data: object): Promise<SignedRequest> {
  const body = JSON.stringify(data);
  return {
    headers: {
      ...JSON_HEADERS,
      'x-github-event': kind,
      'x-github-delivery': id,
      [SIGNATURE]: await sign(secret, body),
    },
    body,
  };
}
