/**
 * What is known of a kind of sender: how a message of it is proved, which event it is, and how one is made that proves
 * a secret. Everything here is computed from the message alone.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

/** By lower-case name. */
export type WebhookHeaders = Readonly<Record<string, string | undefined>>;

export type WebhookCode =
  | 'WEBHOOK_SIGNATURE_MISSING'
  | 'WEBHOOK_SIGNATURE_INVALID'
  | 'WEBHOOK_TIME_INVALID'
  | 'WEBHOOK_REPLAYED'
  | 'WEBHOOK_BODY_INVALID'
  | 'WEBHOOK_BODY_TOO_LARGE'
  | 'WEBHOOK_SOURCE_UNKNOWN'
  | 'WEBHOOK_SOURCE_CLOSED'
  | 'WEBHOOK_METHOD_WRONG'
  | 'WEBHOOK_NOT_STORED';

export interface WebhookFault {
  fault: { status: number; code: WebhookCode; message: string };
}

/** What a message says that has been proved. */
export type Meaning =
  /** Nothing but that the address is right. */
  | { is: 'handshake'; answer: Readonly<Record<string, string | boolean>> }
  | {
      is: 'event';
      kind: string;
      /** Null: the sender gives none. */
      id: string | null;
      /** The id is part of what is signed, so that a message with it is the same one, whatever else changed on the way. */
      isSigned: boolean;
      /** The signature has no time and no id in it: the same body is taken once, under whichever id. */
      isTimeless: boolean;
    };

export interface Sample {
  kind: string;
  id: string;
  data: Readonly<Record<string, unknown>>;
}

export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
  /** Behind the address of the source. */
  path?: string;
}

export interface Sender {
  bytesMax: number;
  /** Within this time it has to be answered. */
  answerMs: number;
  /** What is wrong before anybody has read the body. */
  early(headers: WebhookHeaders, secrets: readonly string[]): WebhookFault | null;
  verify(headers: WebhookHeaders, secrets: readonly string[], body: Buffer): Promise<WebhookFault | null>;
  meaning(headers: WebhookHeaders, content: unknown): Meaning | WebhookFault;
  /** A request that proves the secret and publishes nothing. */
  proof(secret: string): Promise<SignedRequest>;
  /** A request that publishes an event. */
  event(secret: string, sample: Sample): Promise<SignedRequest>;
  /** Whether it is content with an answer alone. It may show to people what stands in it. */
  wantsEmptyAnswer?: true;
}

const MEBIBYTE = 1024 * 1024;
/** What GitHub and GitLab send at most. */
export const LARGE_BYTES_MAX = 25 * MEBIBYTE;
export const SMALL_BYTES_MAX = 4 * MEBIBYTE;
const TOLERANCE_S = 300;
/** The kind of what proves a source; senders have none of that name. */
export const PROOF_KIND = 'sentinel.test';

export const fault = (status: number, code: WebhookCode, message: string): WebhookFault => ({
  fault: { status, code, message },
});

export const missing = (header: string): WebhookFault =>
  fault(401, 'WEBHOOK_SIGNATURE_MISSING', `the header ${header} is missing`);

export const unfit = (what = 'the signature does not fit the body'): WebhookFault =>
  fault(401, 'WEBHOOK_SIGNATURE_INVALID', `${what}; compare the secret of the sender with that of the source`);

export const unread = (message: string): WebhookFault => fault(400, 'WEBHOOK_BODY_INVALID', message);

/** Of a time in seconds, as it is signed. */
export function timeFault(seconds: string | undefined): WebhookFault | null {
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds))
    return fault(401, 'WEBHOOK_TIME_INVALID', 'the time of the signature is not a number of seconds');
  if (Math.abs(Date.now() / 1000 - Number(seconds)) <= TOLERANCE_S) return null;
  return fault(
    401,
    'WEBHOOK_TIME_INVALID',
    `the signature's time is more than ${TOLERANCE_S} seconds away from now; a message that was signed earlier is not taken, and the clocks have to agree`,
  );
}

/** Takes the same time wherever the texts differ, and however long they are. */
export function isSame(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

/** Of any of the secrets; every one is tried, so that the time says nothing of which fits. */
export const fitsAny = (given: readonly string[], expected: readonly string[]): boolean =>
  expected.flatMap((right) => given.map((text) => isSame(text, right))).includes(true);

export const seconds = (): string => String(Math.floor(Date.now() / 1000));

export const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function textAt(value: unknown, key: string): string | undefined {
  const found = isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** Its id is signed: of senders whose signature has a time, or whose token is the proof. */
export const signedEvent = (kind: string, id: string | null): Meaning => ({
  is: 'event',
  kind,
  id,
  isSigned: true,
  isTimeless: false,
});

export const pong: Meaning = { is: 'handshake', answer: { ok: true, handshake: true } };

export const JSON_HEADERS = { 'content-type': 'application/json' } as const;
