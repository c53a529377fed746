/**
 * A run goes on in workflow tasks only. For a query about a run that it does not know yet, the worker
 * core hands over what has happened since the run's last task as well, although no task has begun with
 * it: what the run would do then is neither kept nor undone, the task itself adds to it in another order
 * than a replay has it, and an answer that comes together with commands makes the worker shut down. Such
 * a query fails, and may be asked again when the task is done. It is told by the time of the task: what
 * happens anew has that of the task that it begins.
 *
 * The task may have begun at a worker that is lost since. The core takes it for the query's own, and the
 * time is no sign. It shows in the next task: history has not grown by what the run had asked it to keep.
 * That task fails, and the run is walked again from its start.
 */
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { ActivateInput } from '@temporalio/workflow';
import { NOT_YET } from '../messages/messages.ts';
import { QueryRefusal } from '../messages/query-refusal.ts';
import { eventsOf, keep, type Job } from './task-events.ts';

type Activation = ActivateInput['activation'];

/** What comes without a task of its own, or is no event of history. */
const otherJobs: ReadonlySet<keyof Job> = new Set([
  'queryWorkflow',
  'removeFromCache',
  'doUpdate',
  'notifyHasPatch',
  'updateRandomSeed',
]);
/** The end of the task before, and that the next was scheduled and started. */
const eventsBetween = 3;
const LOST_TASK = 'a worker was lost with the task before this one; the run is taken from its history again';

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
  /** What history is to keep of the latest task. */
  const kept = new Set<string>();
  interceptors.internals.push({
    activate(input, next) {
      const { activation } = input;
      const seen = seenIn(activation);
      if (seen !== null) {
        if (activation.isReplaying !== true) {
          if (isAhead(seen, latest) && hasHappened(activation)) throw new QueryRefusal(NOT_YET);
          if (hasLost(seen, latest, kept, activation.jobs ?? [])) throw new Error(LOST_TASK);
        }
        if (seen.historyLength !== latest.historyLength) kept.clear();
        latest = seen;
      }
      next(input);
    },
    concludeActivation(input, next) {
      const concluded = next(input);
      keep(concluded.commands, kept);
      return concluded;
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

/** Whether what the run asked for in its latest task is in no history. */
function hasLost(seen: Seen, latest: Seen, kept: ReadonlySet<string>, jobs: readonly Job[]): boolean {
  const grown = seen.historyLength - latest.historyLength;
  return kept.size > 0 && grown > 0 && grown < eventsBetween + kept.size + eventsOf(jobs);
}
