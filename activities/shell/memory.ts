/**
 * `safety.maxMemoryMb`: what the processes of one step may hold together.
 *
 * - M1 The step's processes are measured again and again (its group, its session and all that
 *      descends from them); above the bound the step ends with MEMORY_LIMIT.
 * - M2 Between two looks the operating system holds each single process: private data of twice the
 *      bound and a margin (RLIMIT_DATA), so that one that grows at once is refused by the kernel.
 *
 * Counted is memory that only they use: pages of programs and libraries are shared with everyone.
 */
import { readdir, readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { endGroups, isGroupAlive } from './processes.ts';
import type { Launch } from './sandbox.ts';

const lookMs = 100;
const marginMb = 256;
const isLinux = process.platform === 'linux';

/** The same process under RLIMIT_DATA; the shell is replaced by it, so the process id stays. */
export function limitedMemory(launch: Launch, memoryMb: number): Launch {
  const kilobytes = (2 * memoryMb + marginMb) * 1024;
  return { ...launch, file: '/bin/sh', args: ['-c', `ulimit -d ${kilobytes} 2>/dev/null; exec "$@"`, 'sh', launch.file, ...launch.args] };
}

/**
 * Ends the leader's group when its processes pass the bound, at once: memory does not wait for a
 * grace time. Resolves with the megabytes found then; otherwise never. Ends its looking with `ended`.
 */
export function guardMemory(leader: number, memoryMb: number, ended: Promise<unknown>): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
    clearTimeout(timer);
  });
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      const usedMb = Math.ceil((await memoryOf(leader)) / 1024);
      if (isOver) return;
      if (usedMb <= memoryMb) {
        timer = setTimeout(() => void look(), lookMs);
        return;
      }
      resolve(usedMb);
      await endGroups(async () => ((await isGroupAlive(leader)) ? [leader] : []), 0);
    };
    void look();
  });
}

interface Entry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** Known where one look at all processes tells it. */
  kilobytes?: number;
}

/** Kilobytes that the leader's processes hold for themselves. */
export async function memoryOf(leader: number): Promise<number> {
  const entries = isLinux ? await listProc() : await listPs();
  const sizes = await Promise.all(membersOf(entries, leader).map(async ({ pid, kilobytes }) => kilobytes ?? (await ownKilobytes(pid))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function membersOf(entries: readonly Entry[], leader: number): Entry[] {
  const members = new Map(entries.filter(({ group, session }) => group === leader || session === leader).map((entry) => [entry.pid, entry]));
  for (let known = -1; known < members.size; ) {
    known = members.size;
    for (const entry of entries) if (members.has(entry.parent)) members.set(entry.pid, entry);
  }
  return [...members.values()];
}

async function listProc(): Promise<Entry[]> {
  const names = await readdir('/proc');
  const entries = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readEntry));
  return entries.filter((entry) => entry !== null);
}

async function readEntry(name: string): Promise<Entry | null> {
  const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  const [, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
  return parent === undefined || group === undefined || session === undefined ? null : { pid: Number(name), parent, group, session };
}

/** A process that has just ended holds nothing. */
async function ownKilobytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return field('RssAnon') + field('RssShmem');
}

async function listPs(): Promise<Entry[]> {
  const { stdout } = await execa('ps', ['-A', '-o', 'pid=,ppid=,pgid=,sess=,rss='], { reject: false });
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, session, kilobytes] = line.trim().split(/\s+/).map(Number);
    if (pid === undefined || parent === undefined || group === undefined || kilobytes === undefined) return [];
    return [{ pid, parent, group, session: session ?? 0, kilobytes }];
  });
}
