/**
 * The workers of a home, each in a file of its own for as long as it serves. One that ended without a word leaves
 * its file behind, and with it the name under which Temporal still waits for it.
 *
 * A worker counts as ended only where that is certain: its process, known by pid and start time, is no more, in the
 * same boot and the same pid namespace of the same machine as whoever looks. One that is silent or stopped is alive,
 * and of one that ran elsewhere nobody here can tell.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { hostIdentity } from '../../world/processes/kept/kept-folder.ts';
import type { ProcessIdentity } from '../config/services-state.ts';
import { makeFolders } from '../home/home-files.ts';
import { readHomeState, writeHomeState } from '../home/home-state.ts';
import { identifyProcess, isAlive } from '../processes/process-identity.ts';

const StandingWorker = z.strictObject({
  pid: z.int(),
  startTime: z.string(),
  /** Where its pid means it. */
  place: z.string(),
  /** What it is called at the Temporal server. */
  identity: z.string(),
  namespace: z.string(),
  taskQueues: z.array(z.string()),
  version: z.strictObject({ deploymentName: z.string(), buildId: z.string() }).nullable(),
});
export type StandingWorker = z.infer<typeof StandingWorker>;

/** A file that nobody here can judge goes with the time: by then every wait for its worker has long ended. */
const KEPT_MS = 24 * 3_600_000;

const FOLDER = 'workers';
const nameOf = (pid: number): string => join(FOLDER, `${pid}.json`);

/** No other process is called so, on this host or another, now or later. */
const identityOf = ({ pid, startTime }: ProcessIdentity): string => `${pid}@${hostname()}:${startTime}`;

/** Whether a worker of that name is certain to have ended: one of this boot of this machine whose process is no more. */
export function hasEnded(identity: string): boolean {
  const [, pid, host, startTime = ''] = /^(\d+)@(.*):([^:]+)$/.exec(identity) ?? [];
  const self = identifyProcess(process.pid)?.startTime;
  const isHere = host === hostname() && self !== undefined && bootOf(startTime) === bootOf(self);
  return isHere && !isAlive({ pid: Number(pid), startTime });
}

/** Empty where a system does not say it. */
const bootOf = (startTime: string): string => startTime.slice(0, startTime.lastIndexOf('-') + 1);

/** What this process is called at the Temporal server. */
export function ownIdentity(): string {
  const self = identifyProcess(process.pid);
  return self === null ? `${process.pid}@${hostname()}` : identityOf(self);
}

/** Null where a pid cannot be told from the same pid elsewhere. */
export function ownPlace(): string | null {
  if (process.platform !== 'linux') return hostname();
  try {
    return `${hostname()} ${hostIdentity()}`;
  } catch {
    return null;
  }
}

/** From now on this process serves; what it returns says that it has ended, having told Temporal of all it was at. */
export function standAsWorker(
  home: string,
  serves: Pick<StandingWorker, 'namespace' | 'taskQueues' | 'version'>,
): () => void {
  const [self, place] = [identifyProcess(process.pid), ownPlace()];
  if (self === null || place === null) return () => undefined;
  try {
    makeFolders(join(home, FOLDER), 0o700);
    const standing: StandingWorker = { ...self, place, identity: identityOf(self), ...serves };
    writeHomeState(home, nameOf(self.pid), standing);
  } catch {
    // A full disk, or a home that is not this user's: what it is lost with waits for its timeouts.
  }
  return () => forgetWorker(home, self.pid);
}

export function forgetWorker(home: string, pid: number): void {
  rmSync(join(home, nameOf(pid)), { force: true });
}

/** The workers of this home that are certain to have ended. */
export function endedWorkers(home: string): StandingWorker[] {
  const place = ownPlace();
  return pidsIn(home).flatMap((pid) => {
    const standing = read(home, pid);
    if (standing !== null && standing.place === place) return isAlive(standing) ? [] : [standing];
    if (isOld(home, pid)) forgetWorker(home, pid);
    return [];
  });
}

function pidsIn(home: string): number[] {
  try {
    return readdirSync(join(home, FOLDER)).flatMap((name) => {
      const found = /^(\d+)\.json$/.exec(name)?.[1];
      return found === undefined ? [] : [Number(found)];
    });
  } catch {
    return [];
  }
}

function read(home: string, pid: number): StandingWorker | null {
  try {
    const found = StandingWorker.safeParse(readHomeState(home, nameOf(pid)));
    return found.success && found.data.pid === pid ? found.data : null;
  } catch {
    return null;
  }
}

const isOld = (home: string, pid: number): boolean =>
  Date.now() - (statSync(join(home, nameOf(pid)), { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > KEPT_MS;
