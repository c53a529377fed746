/**
 * A run goes on in workflow tasks only. For a query about a run that it does not know yet, the worker
 * core hands over what has happened since the run's last task as well, although no task has begun with
 * it: what the run would do then is neither kept nor undone, the task itself adds to it in another order
 * than a replay has it, and an answer that comes together with commands makes the worker shut down. Such
 * a query fails, and may be asked again when the task is done.
 *
 * It is told by the time of the task: what happens anew has that of the task that it begins.
 */
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { ActivateInput } from '@temporalio/workflow';
import { NOT_YET } from './messages.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** What comes without a task of its own, or is no event of history. */
const otherJobs: ReadonlySet<keyof Job> = new Set(['queryWorkflow', 'removeFromCache', 'doUpdate', 'notifyHasPatch', 'updateRandomSeed']);

interface Seen {
  /** In nanoseconds; of the first activation in milliseconds. */
  time: bigint;
  isExact: boolean;
  historyLength: number;
}

const nanosPerMs = 1_000_000n;

/** To be called in the run's first activation. */
export function goOnInTasksOnly(): void {
  const { interceptors, now, info } = getActivator();
  let latest: Seen = { time: BigInt(Math.trunc(now)) * nanosPerMs, isExact: false, historyLength: info.historyLength };
  interceptors.internals.push({
    activate(input, next) {
      const { activation } = input;
      const seen = seenIn(activation);
      if (seen !== null) {
        if (activation.isReplaying !== true && isAhead(seen, latest) && hasHappened(activation)) throw new Error(NOT_YET);
        latest = seen;
      }
      next(input);
    },
  });
}

/** Null of queries, which have no time. */
function seenIn({ timestamp, historyLength }: Activation): Seen | null {
  if (timestamp === null || timestamp === undefined) return null;
  const time = BigInt(String(timestamp.seconds ?? 0)) * 1000n * nanosPerMs + BigInt(timestamp.nanos ?? 0);
  return { time, isExact: true, historyLength: historyLength ?? 0 };
}

function isAhead(seen: Seen, latest: Seen): boolean {
  const time = latest.isExact ? seen.time : seen.time - (seen.time % nanosPerMs);
  return time === latest.time && seen.historyLength > latest.historyLength;
}

function hasHappened({ jobs }: Activation): boolean {
  return (jobs ?? []).some((job) => (Object.keys(job) as (keyof Job)[]).some((kind) => !otherJobs.has(kind)));
}
