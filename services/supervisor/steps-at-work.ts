/**
 * The steps that each worker of a home is at, in a file of its own, so that the next worker learns which steps
 * a worker was lost with that could not say so itself: its memory had run out, or it crashed.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolders } from '../home/home-files.ts';
import type { ProcessIdentity } from '../config/services-state.ts';
import { readHomeState, writeHomeState } from '../home/home-state.ts';
import { isAlive } from '../processes/process-identity.ts';

const StepsAtWork = z.strictObject({
  pid: z.int(),
  startTime: z.string(),
  /** If the worker ends now without a word, it is lost with these: its memory runs out, or it has crashed. */
  isLost: z.boolean(),
  steps: z.array(z.strictObject({ handle: z.string(), key: z.string() })),
});
export type StepsAtWork = z.infer<typeof StepsAtWork>;

const folderOf = (home: string): string => join(home, 'at-work');
const nameOf = (pid: number): string => join('at-work', `${pid}.json`);

/** What cannot be written down is not known to the next worker, which is no reason to fail. */
export function noteAtWork(home: string, at: StepsAtWork): void {
  try {
    makeFolders(folderOf(home), 0o700);
    writeHomeState(home, nameOf(at.pid), at);
  } catch {
    // A full disk, or a home that is not this user's.
  }
}

/** A worker that crashed. */
export function noteLost(home: string, { pid, startTime }: ProcessIdentity): void {
  const at = readAtWork(home, pid);
  if (at?.startTime === startTime) noteAtWork(home, { ...at, isLost: true });
}

export function forgetAtWork(home: string, pid: number): void {
  rmSync(join(home, nameOf(pid)), { force: true });
}

/** Of workers that are no more, each once: of several who ask, one is told. */
export function takeEnded(home: string): StepsAtWork[] {
  return pidsIn(home).flatMap((pid) => {
    const at = readAtWork(home, pid);
    if (at !== null && isAlive(at)) return [];
    try {
      rmSync(join(home, nameOf(pid)));
    } catch {
      return [];
    }
    return at === null ? [] : [at];
  });
}

function pidsIn(home: string): number[] {
  try {
    return readdirSync(folderOf(home)).flatMap((name) => {
      const found = /^(\d+)\.json$/.exec(name)?.[1];
      return found === undefined ? [] : [Number(found)];
    });
  } catch {
    return [];
  }
}

function readAtWork(home: string, pid: number): StepsAtWork | null {
  try {
    const read = StepsAtWork.safeParse(readHomeState(home, nameOf(pid)));
    return read.success && read.data.pid === pid ? read.data : null;
  } catch {
    return null;
  }
}
