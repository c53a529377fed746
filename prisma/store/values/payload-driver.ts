/**
 * Claim check for Temporal: payloads above the threshold live in the store by the SHA-256 of their
 * content, and history holds the hash. The same content is written once and, while it stays in memory,
 * read once.
 */
import { createHash } from 'node:crypto';
import { ExternalStorage, StorageDriverClaim } from '@temporalio/common';
import type { Payload } from '@temporalio/common';
import type { StorageDriver } from '@temporalio/common/lib/converter/extstore.js';
import { LRUCache } from 'lru-cache';
import type { Store } from '../contract/contract.ts';
import { crashPoint } from '../../../world/crash-points/crash-point.ts';

export const PAYLOAD_THRESHOLD_BYTES = 32 * 1024;
const RETRIEVED_BYTES_MAX = 64 * 1024 * 1024;
const KNOWN_MAX = 10_000;

/** Length of the header (4 bytes), the metadata as JSON with base64 values, the data. */
function toBytes(payload: Payload): Buffer {
  const names = Object.entries(payload.metadata ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const metadata = names.map(([name, value]) => [name, Buffer.from(value ?? []).toString('base64')]);
  const header = Buffer.from(JSON.stringify(metadata));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  return Buffer.concat([length, header, payload.data ?? new Uint8Array()]);
}

function fromBytes(content: Uint8Array): Payload {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const end = 4 + bytes.readUInt32BE(0);
  const metadata = JSON.parse(bytes.toString('utf8', 4, end)) as [string, string][];
  return {
    metadata: Object.fromEntries(metadata.map(([name, value]) => [name, new Uint8Array(Buffer.from(value, 'base64'))])),
    data: bytes.subarray(end),
  };
}

export class StorePayloadDriver implements StorageDriver {
  readonly name = 'sentinel-store';
  readonly type = 'sentinel.postgres';
  readonly #payloads: Store['payloads'];
  readonly #known = new LRUCache<string, true>({ max: KNOWN_MAX });
  readonly #retrieved = new LRUCache<string, Uint8Array>({
    maxSize: RETRIEVED_BYTES_MAX,
    sizeCalculation: (content) => content.length,
  });

  constructor(payloads: Store['payloads']) {
    this.#payloads = payloads;
  }

  store(_context: unknown, payloads: Payload[]): Promise<StorageDriverClaim[]> {
    return Promise.all(payloads.map((payload) => this.#put(payload)));
  }

  retrieve(_context: unknown, claims: StorageDriverClaim[]): Promise<Payload[]> {
    return Promise.all(claims.map(async (claim) => fromBytes(await this.#get(claim.claimData['sha256'] ?? ''))));
  }

  async #put(payload: Payload): Promise<StorageDriverClaim> {
    const content = toBytes(payload);
    const hash = createHash('sha256').update(content).digest('hex');
    if (this.#known.get(hash) === undefined) {
      await this.#payloads.put(hash, content);
      crashPoint('payload.kept');
      this.#known.set(hash, true);
    }
    return new StorageDriverClaim({ sha256: hash });
  }

  async #get(hash: string): Promise<Uint8Array> {
    const cached = this.#retrieved.get(hash);
    if (cached !== undefined) return cached;
    const content = await this.#payloads.get(hash);
    if (content === null)
      throw new Error(
        `payload ${hash} is not in the store; was the database restored without its payloads, or is this another one?`,
      );
    this.#retrieved.set(hash, content);
    return content;
  }
}

export function payloadStorage(store: Pick<Store, 'payloads'>): ExternalStorage {
  return new ExternalStorage({
    drivers: [new StorePayloadDriver(store.payloads)],
    payloadSizeThreshold: PAYLOAD_THRESHOLD_BYTES,
  });
}
