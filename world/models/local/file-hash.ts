/** What a model's file is known by. Large files take seconds, so each is read once for as long as it stays as it is. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

const known = new Map<string, { of: string; hash: Promise<string> }>();

/** SHA-256, in hex. */
export async function hashOfFile(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path);
  const of = [size, mtimeMs, ino].join();
  const found = known.get(path);
  if (found?.of === of) return found.hash;
  const hash = hashed(path);
  known.set(path, { of, hash });
  hash.catch(() => known.delete(path));
  return hash;
}

async function hashed(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
