/**
 * What the thread beside a worker's event loop says on the worker's log, in JSON lines: that the loop is silent, that
 * it answers again, and that the worker was ended because it did not. Whoever asks how the worker stands reads it there,
 * because a loop that does not answer cannot be asked.
 */
import { readLogEnd } from '../home/home-files.ts';
import { STEPS_NAMED_MAX, type StepUnderWay } from './worker-process.ts';

export interface LoopLine {
  loop: 'silent' | 'answers' | 'ended';
  pid: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** For how long the loop had been silent by then. */
  seconds: number;
  /** Where the worker was, the first of them. */
  steps: StepUnderWay[];
}

export interface LoopStanding {
  /** The loop of this worker is silent now. */
  silent: LoopLine | null;
  /** Workers that were ended for it within the time looked at, the latest last. */
  ended: LoopLine[];
}

/** A loop that is silent for so long is no moment of work. */
export const SILENT_SAID_MS = 3_000;
const BEGINNING = '{"loop":"';
const READ_MAX = 1024 * 1024;

export function loopLine({ loop, pid, at, seconds, steps }: LoopLine): string {
  return JSON.stringify({ loop, pid, at, seconds, steps: steps.slice(0, STEPS_NAMED_MAX) } satisfies LoopLine);
}

export function loopStanding(log: string, pid: number, since: number): LoopStanding {
  const lines = readLogEnd(log, 0, READ_MAX)
    .split('\n')
    .filter((line) => line.startsWith(BEGINNING))
    .flatMap((line) => read(line));
  const last = lines.findLast((line) => line.pid === pid);
  return {
    silent: last?.loop === 'silent' ? last : null,
    ended: lines.filter(({ loop, at }) => loop === 'ended' && at >= since),
  };
}

/** The first line of what is read may be half a line. */
function read(line: string): LoopLine[] {
  try {
    return [JSON.parse(line) as LoopLine];
  } catch {
    return [];
  }
}

/** ` while it was at nightly steps.0@1`; empty where it was at none. */
export function atText({ steps }: { steps: readonly StepUnderWay[] }): string {
  const named = steps.slice(0, STEPS_NAMED_MAX).map(({ handle, key }) => `${handle} ${key}`);
  return named.length === 0 ? '' : ` while it was at ${named.join(', ')}`;
}
