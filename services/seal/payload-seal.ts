/**
 * Seals every value that goes to Temporal, so that whoever reaches the server without the key reads
 * nothing and says nothing: AES-256-GCM over the value, bound to the run (and the activity) that it is for.
 *
 * A sealed value is: version (1 byte), id of the key (4), tag of the owner (16), nonce (12), then the
 * ciphertext with its tag (16). All before the ciphertext is authenticated. The ciphertext holds the value's
 * metadata and its bytes.
 *
 * - Whatever cannot be opened is handed on as a value that says so (`refused`), because an error here would
 *   fail the task of a run again and again: a stranger's signal would hold the run for ever. Whoever takes
 *   values from Temporal drops these (workflows/seal/).
 * - What is large is stored under the hash of its bytes, so it is sealed to the same bytes each time: its
 *   nonce is drawn from its content. Everything else has a nonce of its own.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { PAYLOAD_THRESHOLD_BYTES } from '../../prisma/store/values/payload-driver.ts';
import { bytesOf, packed, unpacked } from './packed.ts';
import type { SealKey, SealKeys } from '../config/seal-key.ts';

export const SEALED_ENCODING = 'binary/sentinel-sealed';

/** Why a value was not opened: nobody with a key sealed it for this run, or it takes a key that is not here. */
export type SealFinding = 'not-sealed' | 'unknown-key';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OWNER_BYTES = 16;
const KEY_AT = 1;
const OWNER_AT = 5;
const NONCE_AT = OWNER_AT + OWNER_BYTES;
const HEAD_BYTES = NONCE_AT + NONCE_BYTES;

/** Values of a run on a schedule are sealed for the schedule, whose workflow id is that of its runs without the time that they were due. */
const DUE = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

export interface SealOptions {
  keys: SealKeys;
  /** What stands in place of a value that cannot be opened. */
  refused(finding: SealFinding, payload: Payload): Payload;
  ofAnyOwner?: boolean;
}

/** Owners whose tags are kept: a run asks for each of its own several times. */
const TAGS_MAX = 1_000;

export class PayloadSeal implements PayloadCodec {
  readonly #options: SealOptions;
  readonly #byId: ReadonlyMap<string, SealKey>;
  readonly #tags = new LRUCache<string, Buffer>({ max: TAGS_MAX });
  readonly #nonces = new Nonces();

  constructor(options: SealOptions) {
    this.#options = options;
    this.#byId = new Map(options.keys.toReversed().map((key) => [key.id, key]));
  }

  /** Opens whatever it has a key for, of any run, and leaves the rest as it is: for whoever only looks. */
  static viewer(keys: SealKeys): PayloadSeal {
    return new PayloadSeal({ keys, refused: (_finding, payload) => payload, ofAnyOwner: true });
  }

  viewer(): PayloadSeal {
    return PayloadSeal.viewer(this.#options.keys);
  }

  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const [key] = this.#options.keys;
    const tag = this.#tagOf(key, ownerOf(context));
    return Promise.resolve(payloads.map((payload) => this.#seal(payload, key, tag)));
  }

  decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.#opened(payload, context)));
  }

  #opened(payload: Payload, context: SerializationContext | undefined): Payload {
    const found = this.#open(payload, context);
    return typeof found === 'string' ? this.#options.refused(found, payload) : found;
  }

  #open(payload: Payload, context: SerializationContext | undefined): Payload | SealFinding {
    const data = bytesOf(payload);
    if (!isSealed(payload) || data.length < HEAD_BYTES + TAG_BYTES || data[0] !== VERSION) return 'not-sealed';
    const key = this.#byId.get(data.toString('hex', KEY_AT, OWNER_AT));
    if (key === undefined) return 'unknown-key';
    const opened = open(data, key);
    if (opened === null) return 'not-sealed';
    if (this.#options.ofAnyOwner === true || context === undefined) return opened;
    const tag = data.subarray(OWNER_AT, NONCE_AT);
    if (tag.equals(this.#tagOf(key, ownerOf(context)))) return opened;
    return this.#isOfItsSchedule(opened, tag, key, context) ? opened : 'not-sealed';
  }

  #isOfItsSchedule(opened: Payload, tag: Buffer, key: SealKey, context: SerializationContext): boolean {
    const { workflowId = '' } = context;
    const schedule = workflowId.replace(DUE, '');
    if (context.type !== 'workflow' || schedule === workflowId) return false;
    const owner = ownerOf({ ...context, workflowId: schedule });
    return tag.equals(this.#tagOf(key, owner)) && isNoOtherStart(opened, schedule);
  }

  #seal(payload: Payload, key: SealKey, tag: Buffer): Payload {
    const plain = packed(payload);
    const nonce = plain.length < PAYLOAD_THRESHOLD_BYTES / 2 ? this.#nonces.next() : nonceOf(key, tag, plain);
    const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(key.id, 'hex'), tag, nonce]);
    const cipher = createCipheriv('aes-256-gcm', key.cipher, nonce).setAAD(head);
    const data = Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { encoding: Buffer.from(SEALED_ENCODING) }, data };
  }

  #tagOf(key: SealKey, owner: string): Buffer {
    const name = `${key.id} ${owner}`;
    const known = this.#tags.get(name) ?? ownerTag(key, owner);
    this.#tags.set(name, known);
    return known;
  }
}

/** Drawn many at once, since each draw costs as much as the sealing of a short value. */
class Nonces {
  #drawn = Buffer.alloc(0);
  #at = 0;

  next(): Buffer {
    if (this.#at === this.#drawn.length) [this.#drawn, this.#at] = [randomBytes(NONCES_DRAWN * NONCE_BYTES), 0];
    this.#at += NONCE_BYTES;
    return this.#drawn.subarray(this.#at - NONCE_BYTES, this.#at);
  }
}

const NONCES_DRAWN = 256;

export const isSealed = ({ metadata }: Payload): boolean =>
  Buffer.from(metadata?.['encoding'] ?? []).toString('utf8') === SEALED_ENCODING;

/** For whom a value is: a run, or one activity of it. */
function ownerOf(context: SerializationContext | undefined): string {
  if (context === undefined) return '';
  const { namespace, workflowId = '' } = context;
  return JSON.stringify([namespace, workflowId, ...(context.type === 'activity' ? [context.activityId ?? ''] : [])]);
}

const ownerTag = (key: SealKey, owner: string): Buffer =>
  createHmac('sha256', key.owners).update(owner).digest().subarray(0, OWNER_BYTES);

/** What a run starts with says whether a schedule starts it: that of another run starts none that looks like a schedule's. */
function isNoOtherStart({ data }: Payload, schedule: string): boolean {
  const value: unknown = JSON.parse(Buffer.from(data ?? []).toString('utf8') || 'null');
  if (typeof value !== 'object' || value === null || !('definition' in value)) return true;
  const origin: unknown = 'origin' in value ? value.origin : undefined;
  return (
    typeof origin === 'object' &&
    origin !== null &&
    'schedule' in origin &&
    typeof origin.schedule === 'string' &&
    schedule.endsWith(`/${origin.schedule}`)
  );
}

const nonceOf = (key: SealKey, tag: Buffer, plain: Buffer): Buffer =>
  createHmac('sha256', key.nonces).update(tag).update(plain).digest().subarray(0, NONCE_BYTES);

/** Null where it was not sealed with this key, or has been changed since. */
function open(data: Buffer, key: SealKey): Payload | null {
  const decipher = createDecipheriv('aes-256-gcm', key.cipher, data.subarray(NONCE_AT, HEAD_BYTES))
    .setAAD(data.subarray(0, HEAD_BYTES))
    .setAuthTag(data.subarray(-TAG_BYTES));
  const begun = decipher.update(data.subarray(HEAD_BYTES, -TAG_BYTES));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return unpacked(begun);
}
