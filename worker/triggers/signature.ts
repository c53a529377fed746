/**
 * Signatures of webhooks: HMAC-SHA256 over all that a message says, its id, the time of sending and the name of
 * its event a line each, and then the body as it was sent.
 *
 *     X-Event-Id: delivery-17
 *     X-Sentinel-Signature: t=1790000000,v1=5257a869…
 *
 * The time is in seconds; where there is no id its line is empty. Neither id nor name can hold a line end
 * (webhooks.ts), so no two messages read alike. A message older or newer than REPLAY_MAX_S is refused, so one
 * that was overheard is of use for minutes only, and as itself alone. Comparing takes the same time wherever the
 * texts differ.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SIGNATURES_MAX } from '../../services/webhooks/senders/stripe.ts';

export const REPLAY_MAX_S = 300;

export type Verdict = { ok: true; seconds: number } | { ok: false; finding: string };

/** What is signed, but for the time. */
export interface Message {
  /** Empty where the sender gave none. */
  id: string;
  /** Of the event, as it is and not as a URL writes it. */
  name: string;
  body: Uint8Array;
}

export function signatureOf(secret: string, seconds: number, { id, name, body }: Message): string {
  return createHmac('sha256', secret).update(`${id}\n${seconds}\n${name}\n`).update(body).digest('hex');
}

export function signatureHeader(secret: string, seconds: number, message: Message): string {
  return `t=${seconds},v1=${signatureOf(secret, seconds, message)}`;
}

/** Any of the secrets will do: while a secret is being replaced, both are valid. */
export function verify(
  header: string | undefined,
  message: Message,
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
  const valid = secrets.map((secret) => signatureOf(secret, seconds, message));
  return valid.some((expected) => given.some((text) => isEqual(text, expected)))
    ? { ok: true, seconds }
    : {
        ok: false,
        finding:
          'the signature does not fit; sign the id, the time, the name of the event, and the body, with a line end between',
      };
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given.toLowerCase()), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
