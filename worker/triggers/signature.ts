/**
 * Signatures of webhooks: HMAC-SHA256 over the time of sending, a dot, and the body as it was sent.
 *
 *     X-Sentinel-Signature: t=1790000000,v1=5257a869…
 *
 * The time is in seconds. A message older or newer than REPLAY_MAX_S is refused, so one that was
 * overheard is of use for minutes only. Comparing takes the same time wherever the texts differ.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const REPLAY_MAX_S = 300;
const SIGNATURES_MAX = 10;

export type Verdict = { ok: true; signature: string } | { ok: false; finding: string };

export function signatureOf(secret: string, seconds: number, body: Uint8Array): string {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
}

export function signatureHeader(secret: string, seconds: number, body: Uint8Array): string {
  return `t=${seconds},v1=${signatureOf(secret, seconds, body)}`;
}

/** Any of the secrets will do: while a secret is being replaced, both are valid. */
export function verify(
  header: string | undefined,
  body: Uint8Array,
  secrets: readonly string[],
  nowMs: number,
): Verdict {
  if (header === undefined)
    return { ok: false, finding: 'the header X-Sentinel-Signature is missing; send t=SECONDS,v1=HMAC' };
  const parts = header.split(',').map((part) => part.trim());
  const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  const given = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3));
  if (!/^\d{1,12}$/.test(time) || given.length === 0 || given.length > SIGNATURES_MAX) {
    return { ok: false, finding: 'the header X-Sentinel-Signature is not of the form t=SECONDS,v1=HMAC' };
  }
  const seconds = Number(time);
  if (Math.abs(nowMs / 1000 - seconds) > REPLAY_MAX_S) {
    return {
      ok: false,
      finding: `the signature's time is more than ${REPLAY_MAX_S} seconds away from now; sign when sending, and set the clocks`,
    };
  }
  const valid = secrets.map((secret) => signatureOf(secret, seconds, body));
  const signature = valid.find((expected) => given.some((text) => isEqual(text, expected)));
  return signature === undefined
    ? { ok: false, finding: 'the signature does not fit the body' }
    : { ok: true, signature };
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given.toLowerCase()), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
