/** What a step is at when its time is over, where that can be seen: the program that the others wait for. */
import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { isLinux, listProcesses, withDescendants } from '../../world/processes/process-table.ts';
import { isInit } from '../../world/processes/step-init.ts';
import { waitsForSomebody } from '../../world/processes/nobody-there.ts';

export interface WaitingProgram {
  line: string;
  /** It is one that waits for somebody at a terminal. */
  asks: boolean;
}

/**
 * Of the processes that `leader` has started: one that is known to wait for somebody, or the only one that waits for no
 * other. Null where there is none to be named.
 */
export async function waitingProgram(leader: number): Promise<WaitingProgram | null> {
  const all = withDescendants(await listProcesses(), ({ group, session }) => group === leader || session === leader);
  const living = all.filter(({ isGone }) => !isGone);
  const parents = new Set(living.map(({ parent }) => parent));
  const last = living.filter(({ pid }) => !parents.has(pid) && !isInit(pid));
  const lines = await Promise.all(last.map(({ pid }) => lineOf(pid)));
  const named = lines.filter((line) => line !== '');
  const asking = named.find((line) => waitsForSomebody(line));
  if (asking !== undefined) return { line: asking, asks: true };
  const [only] = named;
  return named.length === 1 && only !== undefined ? { line: only, asks: false } : null;
}

async function lineOf(pid: number): Promise<string> {
  if (isLinux) {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return text.replaceAll('\0', ' ').trim();
  }
  const { stdout } = await execa('ps', ['-o', 'command=', '-p', String(pid)], { reject: false });
  return stdout.trim();
}
