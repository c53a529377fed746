/** Puts a cassette where workers find it: by its content, as every large value. */
import { createHash } from 'node:crypto';
import type { Store } from '../../prisma/store/contract/contract.ts';

export async function putCassette(store: Pick<Store, 'payloads'>, text: string): Promise<string> {
  const content = Buffer.from(text, 'utf8');
  const hash = createHash('sha256').update(content).digest('hex');
  await store.payloads.put(hash, content);
  return hash;
}
