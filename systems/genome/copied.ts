/** Copies a file to its end, and says what was copied. */
import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileFailure } from '../../operations/files/whole-file.ts';
import { Failure } from '../../world/failures/failures.ts';

export interface Copied {
  /** Of what was written, in hex. */
  sha256: string;
  bytes: number;
}

/**
 * It is on the disk by then. `to` must not be there. `called`: what failures call it. Fails with `FILE_NOT_FOUND`, and with
 * `FILE_NOT_USABLE` where `from` is no file; a link is none. It is opened without waiting, so that a named pipe does not hold
 * the worker. `check`: may fail before anything is copied.
 */
export async function copied(
  from: string,
  to: string,
  { signal, called = from, check }: { signal: AbortSignal; called?: string; check?: (bytes: number) => void },
): Promise<Copied> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw fileFailure(error, called);
    },
  );
  try {
    const found = await source.stat();
    if (!found.isFile()) throw new Failure('FILE_NOT_USABLE', `"${called}" is not a file; name a file`);
    check?.(found.size);
    return await written(source, found.size, to, signal);
  } finally {
    await source.close();
  }
}

async function written(source: FileHandle, size: number, to: string, signal: AbortSignal): Promise<Copied> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  // What is appended meanwhile is not copied.
  const reading = source.createReadStream({ autoClose: false, start: 0, end: Math.max(0, size - 1) });
  await pipeline(reading, counting, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }), { signal });
  return { sha256: hash.digest('hex'), bytes };
}
