/**
 * Processes that outlive their parent are known by pid and start time together, so that a pid the
 * system has given away again is never taken for ours, let alone signalled.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessIdentity, ProcessRecord } from '../config/services-state.ts';

/** A process that was told twice to end has this long to do so. */
const HURRY_MS = 3000;

let bootId: string | undefined;

/** Null when there is no such process, or only its zombie. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startTime = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === null ? null : { pid, startTime };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startTime === identity.startTime;
}

/** As `isAlive`, but never starts a process of its own: where there is no /proc, the pid must do. */
export function seemsAlive(identity: ProcessIdentity): boolean {
  return process.platform === 'linux' ? isAlive(identity) : canSignal(identity.pid);
}

export function isUpAndAlive(record: ProcessRecord | null): boolean {
  return record !== null && record.status === 'up' && seemsAlive(record);
}

/** Sends a signal to the process alone, not to its group. False when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return isAlive(identity) && trySignal(identity.pid, signal);
}

/**
 * Asks with `signal`, waits, then kills the whole group. The group is the process's own: every
 * service is started as a leader. Returns once the process is gone.
 *
 * When `hurry` aborts it is asked once more, which makes a process of ours end at once, and its steps with it.
 */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  graceMs: number,
  hurry?: AbortSignal,
): Promise<void> {
  if (!signalProcess(identity, signal) || (await isGoneWithin(identity, graceMs, hurry))) return;
  if (hurry?.aborted === true && signalProcess(identity, signal) && (await isGoneWithin(identity, HURRY_MS))) return;
  trySignal(-identity.pid, 'SIGKILL');
  trySignal(identity.pid, 'SIGKILL');
  await isGoneWithin(identity, 10_000);
}

/** False when the time is over, or the signal aborts, and it is still there. */
export async function isGoneWithin(
  identity: ProcessIdentity,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline || signal?.aborted === true) return false;
    await sleep(20);
  }
  return true;
}

function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whether somebody has stopped the process (SIGSTOP); never known where there is no /proc. */
export const isHalted = ({ pid }: ProcessIdentity): boolean => /^[Tt]$/.test(statFields(pid)?.[0] ?? '');

/** From the state on. */
function statFields(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function startTimeFromProc(pid: number): string | null {
  const fields = statFields(pid);
  const [state, ticks] = [fields?.[0], fields?.[19]];
  if (state === 'Z' || state === 'X' || ticks === undefined) return null;
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  return `${bootId}-${ticks}`;
}

function startTimeFromPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    const [state, ...start] = line.split(/\s+/);
    return state === undefined || state === '' || state.startsWith('Z') ? null : start.join(' ');
  } catch {
    return null;
  }
}
