/**
 * What every process of a step carries and none can leave behind by accident: a soft bound on file locks
 * (RLIMIT_LOCKS) of a number of its own. Linux has kept such locks unbounded since 2.4, so the bound does
 * nothing; it is inherited by every child, through `setsid`, a double fork and an emptied environment.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isLinux, listProcesses, readProcess } from './process-table.ts';

/** 40 bits of the step's marker, far above what anybody would set by hand. */
export function markOf(marker: string): number {
  return 2 ** 40 + createHash('sha256').update(marker).digest().readUIntBE(0, 5);
}

/** The part of a shell line that puts the mark on itself and on what it becomes; shells name the bound by one of two letters. */
export const markLine = (mark: number): string => `{ ulimit -S -w ${mark} || ulimit -S -x ${mark}; } 2>/dev/null`;

/** Process groups of this host in which a living process has one of the marks; none where there is no /proc. */
export async function groupsMarked(marks: readonly number[]): Promise<number[]> {
  if (!isLinux || marks.length === 0) return [];
  const entries = (await listProcesses()).filter(({ isGone }) => !isGone);
  const found = await Promise.all(entries.map(({ pid }) => markOn(pid)));
  return entries.filter((_entry, index) => marks.includes(found[index] ?? 0)).map(({ group }) => group);
}

/** Whether this process was started by a step of a run. */
export const isWithinStep = async (): Promise<boolean> => isLinux && (await markOn(process.pid)) >= 2 ** 40;

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

async function markOn(pid: number): Promise<number> {
  // Another user's process cannot be read, and one that has just ended is gone.
  const limits = await readFile(`/proc/${pid}/limits`, 'latin1').catch(() => '');
  return Number(/^Max file locks\s+(\d+)/m.exec(limits)?.[1] ?? 0);
}
