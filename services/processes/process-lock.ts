/**
 * Locks of this machine: a file that names its holder. A holder that is dead (by pid and start time)
 * holds nothing. Creating the file is a hard link, which only one process can win, and removing a dead
 * holder's file is guarded by a second, short-lived lock, so that two newcomers cannot remove each other's.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { makeFolders } from '../home/home-files.ts';
import { ProcessIdentity } from '../config/services-state.ts';
import { identifyProcess, isAlive } from './process-identity.ts';

/** A takeover is a handful of file operations; one older than this was killed in the middle. */
const TAKEOVER_STALE_MS = 5000;

export interface ProcessLock {
  release(): void;
}

/** Null when a living process holds it, this one included. */
export async function acquireLock(path: string): Promise<ProcessLock | null> {
  const self = identifyProcess(process.pid);
  if (self === null) throw new Error('bug: this process cannot see itself');
  makeFolders(dirname(path));
  const claim = `${path}.${randomUUID()}`;
  writeAtomically(claim, JSON.stringify(self));
  try {
    for (;;) {
      if (tryLink(claim, path)) return { release: () => rmSync(path, { force: true }) };
      if (holderOf(path) !== null) return null;
      if (!(await removeDeadLock(path))) await sleep(50);
    }
  } finally {
    rmSync(claim, { force: true });
  }
}

/** The living process that holds the lock. */
export function holderOf(path: string): ProcessIdentity | null {
  const named = readLock(path);
  return named !== null && isAlive(named) ? named : null;
}

async function removeDeadLock(path: string): Promise<boolean> {
  const guard = `${path}.takeover`;
  try {
    mkdirSync(guard);
  } catch {
    const age = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > TAKEOVER_STALE_MS) rmSync(guard, { recursive: true, force: true });
    return false;
  }
  try {
    if (holderOf(path) === null) rmSync(path, { force: true });
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
