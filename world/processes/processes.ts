/**
 * Processes of this host: who carries a step's marker, who is still alive, and ending groups.
 * Linux reads /proc; other systems ask `ps`. A zombie counts as gone: nobody may ever reap it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { SHELL_BOUNDS } from './bounds.ts';
import { isLinux, listProcesses, livingGroups } from './process-table.ts';
import { isInit } from './step-init.ts';

/** `<handle>:<key>` of the step that a process belongs to. */
export const STEP_MARKER = 'SENTINEL_STEP';
/** `<host>:<pid>:<start>` of the worker that started it; the start time tells reused ids apart. */
export const WORKER_MARKER = 'SENTINEL_WORKER';

/** Of a process that outlives its worker: the folder in which it is kept (kept/kept-folder.ts). */
export const KEPT_MARKER = 'SENTINEL_KEPT';

export interface MarkedProcess {
  pid: number;
  group: number;
  step: string;
  worker: string;
  /** Empty where it ends with its worker. */
  kept: string;
}

interface ProcessState {
  group: number;
  start: string;
}

/** Null when there is no such process, or nothing but its zombie. */
async function readState(pid: number): Promise<ProcessState | null> {
  if (!isLinux) return askPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  // The name stands in parentheses and may hold anything; the fields begin after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, , group] = fields;
  const start = fields[19];
  if (state === undefined || state === 'Z' || state === 'X' || group === undefined || start === undefined) return null;
  return { group: Number(group), start };
}

async function askPs(pid: number): Promise<ProcessState | null> {
  const { stdout, exitCode } = await execa('ps', ['-o', 'stat=,pgid=,lstart=', '-p', String(pid)], { reject: false });
  const match = /^\s*(\S+)\s+(\d+)\s+(.+?)\s*$/.exec(stdout);
  if (exitCode !== 0 || match === null || match[1]?.startsWith('Z') === true) return null;
  return { group: Number(match[2]), start: (match[3] ?? '').replaceAll(/\s+/g, '-').replaceAll(':', '.') };
}

export async function processStart(pid: number): Promise<string | null> {
  return (await readState(pid))?.start ?? null;
}

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc');
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Every living process that carries a step's marker, or descends from one that does, but for our own group. */
export async function findMarked(): Promise<MarkedProcess[]> {
  const own = (await readState(process.pid))?.group;
  const found = isLinux ? await scanProc() : await scanPs();
  return (await withInherited(found)).filter((marked) => marked.group !== own);
}

/** What was started without an environment is its parent's. */
async function withInherited(found: readonly MarkedProcess[]): Promise<MarkedProcess[]> {
  if (found.length === 0) return [];
  const marked = new Map(found.map((one) => [one.pid, one]));
  const entries = (await listProcesses()).filter(({ isGone }) => !isGone);
  const parents = new Map(entries.map(({ pid, parent }) => [pid, parent]));
  const inherited = entries.flatMap(({ pid, group }): MarkedProcess[] => {
    const from = marked.has(pid) ? undefined : marked.get(ancestorIn(marked, pid, parents));
    return from === undefined ? [] : [{ ...from, pid, group }];
  });
  return [...found, ...inherited];
}

function ancestorIn(marked: ReadonlyMap<number, unknown>, pid: number, parents: ReadonlyMap<number, number>): number {
  let at = parents.get(pid) ?? 0;
  // Ids may be given anew while the table is read: nobody is as deep as there are processes.
  for (let depth = 0; at > 1 && !marked.has(at) && depth < parents.size; depth += 1) at = parents.get(at) ?? 0;
  return at;
}

async function scanProc(): Promise<MarkedProcess[]> {
  const marked: MarkedProcess[] = [];
  for (const pid of await processIds()) {
    // Another user's process cannot be read, and one that has just ended is gone: both are not ours.
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => null);
    if (environment === null || !environment.includes(`${STEP_MARKER}=`)) continue;
    const variables = environment.toString('utf8').split('\0');
    const step = valueOf(variables, STEP_MARKER);
    const state = await readState(pid);
    if (step === null || state === null) continue;
    marked.push({
      pid,
      group: state.group,
      step,
      worker: valueOf(variables, WORKER_MARKER) ?? '',
      kept: valueOf(variables, KEPT_MARKER) ?? '',
    });
  }
  return marked;
}

async function scanPs(): Promise<MarkedProcess[]> {
  const { stdout } = await execa('ps', ['-A', '-E', '-ww', '-o', 'pid=,pgid=,stat=,command='], { reject: false });
  const marked: MarkedProcess[] = [];
  for (const line of stdout.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    const words = (match?.[4] ?? '').split(' ');
    const step = valueOf(words, STEP_MARKER);
    if (match === null || step === null || match[3]?.startsWith('Z') === true) continue;
    marked.push({
      pid: Number(match[1]),
      group: Number(match[2]),
      step,
      worker: valueOf(words, WORKER_MARKER) ?? '',
      kept: valueOf(words, KEPT_MARKER) ?? '',
    });
  }
  return marked;
}

function valueOf(variables: readonly string[], name: string): string | null {
  return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

/** Living members of a group; none where there is no /proc. */
export async function processesOfGroup(group: number): Promise<number[]> {
  if (!isLinux) return [];
  const members = await Promise.all(
    (await processIds()).map(async (pid) => ((await readState(pid))?.group === group ? pid : 0)),
  );
  return members.filter((pid) => pid > 0);
}

function sendSignal(to: number, signal: NodeJS.Signals): void {
  // As seen from another namespace a group can be 0; to the system, 0 and -1 are this process's group and everybody.
  if (Math.abs(to) <= 1) return;
  try {
    process.kill(to, signal);
  } catch {
    // ESRCH: it has just ended. EPERM: a member changed its user; it is out of our reach, and reported in the end.
  }
}

/** An init ends what is below it, and then itself; what is below it would get away from one that is killed. */
export function killGroup(group: number): void {
  if (!isInit(group)) return sendSignal(-group, 'SIGKILL');
  sendSignal(-group, 'SIGCONT');
  sendSignal(group, 'SIGUSR1');
}

/**
 * Ends the groups that `find` names, asking again as it goes (a group may start another): SIGTERM,
 * after `graceMs` SIGKILL, which an init is spared for a while. A group that was named once is ended even if it is not named again, because
 * what it was found by may end first. Returns the groups that are still there after all of it.
 */
export async function endGroups(find: () => Promise<number[]>, graceMs: number): Promise<number[]> {
  const asked = new Set<number>();
  const killAt = performance.now() + graceMs;
  const reportAt = killAt + SHELL_BOUNDS.killWaitMs;
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 1.5, 200)) {
    const named = new Set([...(await find()), ...asked]);
    const living = named.size === 0 ? named : await livingGroups();
    const alive = [...named].filter((group) => living.has(group));
    const now = performance.now();
    if (alive.length === 0 || now >= reportAt) return alive;
    for (const group of alive) {
      if (now >= killAt + SHELL_BOUNDS.initMs) sendSignal(-group, 'SIGKILL');
      else if (now >= killAt) killGroup(group);
      else if (!asked.has(group)) sendSignal(-group, 'SIGTERM');
      asked.add(group);
    }
    await sleep(now < killAt ? Math.min(waitMs, killAt - now) : waitMs);
  }
}
