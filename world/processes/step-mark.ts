/**
 * What every process of a step carries and none can leave behind by accident: a bound on file locks
 * (RLIMIT_LOCKS). Linux has kept such locks unbounded since 2.4, so the bound does nothing; it is inherited
 * by every child, through `setsid`, a double fork and an emptied environment. The soft bound is a number of
 * the step's own. The hard one is the same for all steps, and only root can take it off.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isLinux, listProcesses, readProcess } from './process-table.ts';
import { STEP_MARKER } from './processes.ts';
import { isInit } from './step-init.ts';

/** The hard bound: above all marks, so that a step within a step can have one of its own. */
export const MARK_MAX = 2 ** 41;
/** A chain of parents that is longer is no chain: ids were given anew while it was read. */
const deepest = 10_000;

/** 40 bits of the step's marker, far above what anybody would set by hand. */
export function markOf(marker: string): number {
  return 2 ** 40 + createHash('sha256').update(marker).digest().readUIntBE(0, 5);
}

/** The part of a shell line that puts the mark on itself and on what it becomes; shells name the bound by one of two letters. */
export const markLine = (mark: number): string => {
  const by = (letter: string): string => `{ ulimit -S -${letter} ${mark} && ulimit -H -${letter} ${MARK_MAX}; }`;
  return `{ ${by('w')} || ${by('x')}; } 2>/dev/null`;
};

/** Process groups of this host in which a living process has one of the marks; none where there is no /proc. */
export async function groupsMarked(marks: readonly number[]): Promise<number[]> {
  if (!isLinux || marks.length === 0) return [];
  const entries = (await listProcesses()).filter(({ isGone }) => !isGone);
  const found = await Promise.all(entries.map(({ pid }) => markOn(pid)));
  return entries.filter((_entry, index) => marks.includes(found[index] ?? 0)).map(({ group }) => group);
}

/**
 * Whether a step of a run started this process, or what started it: by its parents, or by what they have
 * left on it. A hard bound that somebody else has set counts as well, since a step could have lowered its own.
 */
export async function isWithinStep(): Promise<boolean> {
  if (process.env[STEP_MARKER] !== undefined) return true;
  return isLinux && ((await isBounded()) || (await isBelowInit(process.pid)));
}

async function isBelowInit(pid: number): Promise<boolean> {
  for (let at = pid, depth = 0; at > 1 && depth < deepest; depth += 1) {
    if (isInit(at)) return true;
    at = (await readProcess(String(at)))?.parent ?? 0;
  }
  return false;
}

/** Ids of the processes there are now: whoever knows them looks only at those that come later. */
export const processIdsNow = (): ReadonlySet<string> =>
  isLinux ? new Set(readdirSync('/proc').filter((name) => /^\d+$/.test(name))) : new Set();

/** As `groupsMarked`, of processes that began after `before`: a fiftieth of what all of them cost. */
export async function newGroupsMarked(mark: number, before: ReadonlySet<string>): Promise<number[]> {
  const later = [...processIdsNow()].filter((pid) => !before.has(pid));
  const found = await Promise.all(
    later.map(async (pid) => ((await markOn(Number(pid))) === mark ? await readProcess(pid) : null)),
  );
  return found.flatMap((entry) => (entry === null || entry.isGone ? [] : [entry.group]));
}

async function isBounded(): Promise<boolean> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
  return /^Max file locks\s+\S+\s+\d+/m.test(limits);
}

async function markOn(pid: number): Promise<number> {
  // Another user's process cannot be read, and one that has just ended is gone.
  const limits = await readFile(`/proc/${pid}/limits`, 'latin1').catch(() => '');
  return Number(/^Max file locks\s+(\d+)/m.exec(limits)?.[1] ?? 0);
}
