/**
 * One supervisor per home. The lock is a file that names its holder; a holder that is dead (by pid
 * and start time) holds nothing. Creating the file is a hard link, which only one process can win,
 * and removing a dead holder's file is guarded by a second, short-lived lock, so that two
 * newcomers cannot remove each other's.
 */
import { linkSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomically } from '../config/home-files.ts';
import { identifyProcess, isAlive } from '../processes/process-identity.ts';
import { ProcessIdentity } from '../config/services-state.ts';

/** A takeover is a handful of file operations; one older than this was killed in the middle. */
const TAKEOVER_STALE_MS = 5000;

export interface SupervisorLock {
  release(): void;
}

/** Null when a living process holds it. */
export async function acquireSupervisorLock(home: string): Promise<SupervisorLock | null> {
  const self = identifyProcess(process.pid);
  if (self === null) throw new Error('bug: this process cannot see itself');
  const path = lockFile(home);
  const claim = `${path}.${process.pid}`;
  writeAtomically(claim, JSON.stringify(self));
  try {
    for (;;) {
      if (tryLink(claim, path)) return { release: () => rmSync(path, { force: true }) };
      if (lockHolder(home) !== null) return null;
      if (!(await removeDeadLock(home))) await sleep(50);
    }
  } finally {
    rmSync(claim, { force: true });
  }
}

/** The living process that holds the lock. */
export function lockHolder(home: string): ProcessIdentity | null {
  const named = readLock(lockFile(home));
  return named !== null && isAlive(named) ? named : null;
}

function lockFile(home: string): string {
  return join(home, 'supervisor.lock');
}

async function removeDeadLock(home: string): Promise<boolean> {
  const guard = `${lockFile(home)}.takeover`;
  try {
    mkdirSync(guard);
  } catch {
    const age = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > TAKEOVER_STALE_MS) rmSync(guard, { recursive: true, force: true });
    return false;
  }
  try {
    if (lockHolder(home) === null) rmSync(lockFile(home), { force: true });
    return true;
  } finally {
    rmdirSync(guard);
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function readLock(path: string): ProcessIdentity | null {
  try {
    return ProcessIdentity.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}
