/** Flushes of the disk under a folder, from Linux's count of them. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of `stat` of a block device, the flush requests that it has completed. */
const FLUSHES = 15;

/** NaN where the folder is on no disk, or its kernel does not count. */
export function flushesUnder(folder: string): () => number {
  try {
    const { dev } = statSync(folder);
    const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const device = realpathSync(`/sys/dev/block/${major}:${minor}`);
    // The disk counts for its partitions.
    const stat = join(existsSync(join(device, 'partition')) ? dirname(device) : device, 'stat');
    return () => Number(readFileSync(stat, 'utf8').trim().split(/\s+/)[FLUSHES] ?? Number.NaN);
  } catch {
    return () => Number.NaN;
  }
}

/** What an act has flushed: without what the disk flushes in a second before it, in which nothing runs. */
export async function flushesOf<Result extends { wallMs: number }>(
  { flushes }: { flushes: () => number },
  act: () => Promise<Result>,
): Promise<Result & { flushes: number }> {
  const idleAt = flushes();
  const startedAt = performance.now();
  await sleep(1000);
  const before = flushes();
  const idle = (before - idleAt) / (performance.now() - startedAt);
  const result = await act();
  return { ...result, flushes: flushes() - before - idle * result.wallMs };
}

export const HOW_FLUSHES =
  'flushes: what the disk below the temporary folder completed (/sys/block), of all processes, less its rate in the idle second before';
