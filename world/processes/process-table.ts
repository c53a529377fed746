/**
 * All processes of this host in one look, and what descends from some of them: a child that left its
 * group, its session and its environment behind is still found by its parent. Linux reads /proc; other
 * systems ask `ps`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { execa } from 'execa';

export interface Entry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** A zombie counts as gone: nobody may ever reap it. */
  isGone: boolean;
  /** Memory, where one look at all processes tells it. */
  kilobytes?: number;
}

export const isLinux = process.platform === 'linux';

export function listProcesses(): Promise<Entry[]> {
  return isLinux ? listProc() : listPs();
}

/** Those, and all that they have started and that still has a living parent among them. */
export function withDescendants(entries: readonly Entry[], isFirst: (entry: Entry) => boolean): Entry[] {
  const children = new Map<number, Entry[]>();
  for (const entry of entries) children.set(entry.parent, [...(children.get(entry.parent) ?? []), entry]);
  const members = new Map<number, Entry>();
  const waiting = entries.filter(isFirst);
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (members.has(entry.pid)) continue;
    members.set(entry.pid, entry);
    waiting.push(...(children.get(entry.pid) ?? []));
  }
  return [...members.values()];
}

/** Groups that a process leads, or that something it started is in. */
export async function groupsBelow(leader: number): Promise<number[]> {
  const entries = await listProcesses();
  const members = withDescendants(entries, ({ group, session }) => group === leader || session === leader);
  return members.filter(({ isGone }) => !isGone).map(({ group }) => group);
}

/** Groups with a living member. */
export async function livingGroups(): Promise<Set<number>> {
  return new Set((await listProcesses()).filter(({ isGone }) => !isGone).map(({ group }) => group));
}

async function listProc(): Promise<Entry[]> {
  const names = await readdir('/proc');
  const entries = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readProcess));
  return entries.filter((entry) => entry !== null);
}

/** By its id; null when it is no more. */
export async function readProcess(name: string): Promise<Entry | null> {
  const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  // The name stands in parentheses and may hold anything; the fields begin after the last one.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, group, session] = rest.map(Number);
  if (parent === undefined || group === undefined || session === undefined) return null;
  return { pid: Number(name), parent, group, session, isGone: state === 'Z' || state === 'X' };
}

async function listPs(): Promise<Entry[]> {
  const { stdout } = await execa('ps', ['-A', '-o', 'pid=,ppid=,pgid=,sess=,rss=,stat='], { reject: false });
  return stdout.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [pid, parent, group, session, kilobytes] = fields.map(Number);
    if (pid === undefined || parent === undefined || group === undefined || kilobytes === undefined) return [];
    return [{ pid, parent, group, session: session ?? 0, isGone: fields[5]?.startsWith('Z') === true, kilobytes }];
  });
}
