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
import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../../language/json.ts';
import { Failure } from '../failures/failures.ts';
import { groupsBelow, listProcesses, withDescendants } from './process-table.ts';
import { endGroups } from './processes.ts';
import { isInit } from './step-init.ts';

const lookMs = 100;
const marginMb = 256;

/** RLIMIT_DATA of each process. */
export const dataBytesMax = (memoryMb: number): number => (2 * memoryMb + marginMb) * 1024 * 1024;

/** The part of a shell line that puts itself, and what it becomes, under it. */
export const memoryLine = (memoryMb: number): string => `ulimit -d ${dataBytesMax(memoryMb) / 1024} 2>/dev/null`;

/**
 * Ends the leader's processes when they pass the bound, at once: memory does not wait for a grace
 * time. Resolves with the megabytes found then; otherwise never. Ends its looking with `ended`.
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
      // What cannot be measured now, where the worker has no file handle left, is measured at the next look.
      const usedMb = Math.ceil((await memoryOf(leader).catch(() => 0)) / 1024);
      if (isOver) return;
      if (usedMb <= memoryMb) {
        timer = setTimeout(() => void look(), lookMs);
        return;
      }
      resolve(usedMb);
      await endGroups(() => groupsBelow(leader), 0);
    };
    void look();
  });
}

/** What a step fails with, and what is kept of a process that no step waits for; `command` as a message quotes it. */
export function memoryFailure(
  command: string,
  { usedMb, maxMemoryMb }: { usedMb: number; maxMemoryMb: number },
  details: JsonObject = {},
): Failure {
  const message = `"${command}" held ${usedMb} MB and was ended; raise safety.maxMemoryMb (${maxMemoryMb}) or make it use less`;
  return new Failure('MEMORY_LIMIT', message, { details: { usedMb, maxMemoryMb, ...details } });
}

/** Kilobytes that the leader's processes hold for themselves; an init (step-init.ts) is none of the step's. */
export async function memoryOf(leader: number): Promise<number> {
  const below = withDescendants(await listProcesses(), ({ group, session }) => group === leader || session === leader);
  const members = isInit(leader) ? below.filter(({ group }) => group !== leader) : below;
  const sizes = await Promise.all(members.map(async ({ pid, kilobytes }) => kilobytes ?? (await ownKilobytes(pid))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A process that has just ended holds nothing. */
async function ownKilobytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return field('RssAnon') + field('RssShmem');
}
