import { createHash, randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import {
  PAYLOAD_THRESHOLD_BYTES,
  StorePayloadDriver,
  payloadStorage,
} from '../../../prisma/store/values/payload-driver.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

/** Counts what reaches the database. */
function counted(): { payloads: Store['payloads']; puts: () => number; gets: () => number } {
  const { payloads } = opened.store;
  let puts = 0;
  let gets = 0;
  return {
    payloads: {
      put: (hash, content) => {
        puts += 1;
        return payloads.put(hash, content);
      },
      get: (hash) => {
        gets += 1;
        return payloads.get(hash);
      },
    },
    puts: () => puts,
    gets: () => gets,
  };
}

const json = (data: Uint8Array): Payload => ({
  metadata: { encoding: Buffer.from('json/plain'), __proto__x: Buffer.from([0, 255]) },
  data,
});

test('content comes back by its hash, 5 MB and nothing at all included', async () => {
  const { payloads } = opened.store;
  for (const content of [randomBytes(5_000_000), Buffer.alloc(0), new Uint8Array([0, 1, 255]).subarray(1)]) {
    const hash = createHash('sha256').update(content).digest('hex');
    await payloads.put(hash, content);
    await payloads.put(hash, content);
    expect(Buffer.compare((await payloads.get(hash)) ?? Buffer.from('missing'), content)).toBe(0);
  }
  expect(await payloads.get('none')).toBeNull();
});

test('the same payload is written once and read once a driver; another driver reads it too', async () => {
  const first = counted();
  const driver = new StorePayloadDriver(first.payloads);
  const payload = json(randomBytes(5_000_000));
  const [claim] = await driver.store({}, [payload]);
  const [again] = await driver.store({}, [
    {
      data: payload.data ?? null,
      metadata: { __proto__x: Buffer.from([0, 255]), encoding: Buffer.from('json/plain') },
    },
  ]);
  expect(again).toEqual(claim);
  expect(first.puts()).toBe(1);

  const second = counted();
  const reader = new StorePayloadDriver(second.payloads);
  for (let n = 0; n < 3; n += 1) {
    const [read] = await reader.retrieve({}, claim === undefined ? [] : [claim]);
    expect(Buffer.compare(read?.data ?? Buffer.alloc(0), payload.data ?? Buffer.alloc(0))).toBe(0);
    expect(Buffer.from(read?.metadata?.['encoding'] ?? []).toString()).toBe('json/plain');
    expect([...(read?.metadata?.['__proto__x'] ?? [])]).toEqual([0, 255]);
  }
  expect(second.gets()).toBe(1);
});

test('a payload that is gone is named', async () => {
  const driver = new StorePayloadDriver(opened.store.payloads);
  await expect(driver.retrieve({}, [{ claimData: { sha256: 'abc' } }])).rejects.toThrow(
    'payload abc is not in the store',
  );
});

test('only payloads above the threshold are taken out', () => {
  const storage = payloadStorage(opened.store);
  expect(storage.payloadSizeThreshold).toBe(PAYLOAD_THRESHOLD_BYTES);
  expect(storage.drivers.map((driver) => driver.name)).toEqual(['sentinel-store']);
});

test('what was read last stays in memory, up to 64 MiB; what is larger than that does not', async () => {
  const read: string[] = [];
  const driver = new StorePayloadDriver({
    put: () => Promise.resolve(),
    get: (hash) => {
      read.push(hash);
      const content = Buffer.alloc(hash === 'too large' ? 65 * 2 ** 20 : 24 * 2 ** 20);
      content.writeUInt32BE(2);
      content.write('[]', 4);
      return Promise.resolve(content);
    },
  });
  for (const sha256 of ['a', 'b', 'a', 'c', 'too large', 'a', 'b', 'too large'])
    await driver.retrieve({}, [{ claimData: { sha256 } }]);
  expect(read).toEqual(['a', 'b', 'c', 'too large', 'b', 'too large']);
});
