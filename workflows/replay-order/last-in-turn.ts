/**
 * Handlers of signals and updates run last: after everything else that the same activation delivers.
 * After a failover, the worker core merges a workflow task that led to no command into the next task. It
 * then starts a handler of the second task before it delivers the results of the first, whereas a later
 * replay delivers them in their order. A handler that runs last finds the run in the same state both times.
 */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import type { Walk } from '../../interpreter/walk-state.ts';
import { asksLocally } from './local-activity.ts';
import { settleActivation } from './settle-activation.ts';

/** Runs that received a signal or an update since they last rested for one: known on arrival, before the handler runs. */
const toldRuns = new WeakSet<Walk>();
/** Runs that a signal or an update has changed since they last rested: known once its handler has done its work. */
const changedRuns = new WeakSet<Walk>();
/** At most ten extra tasks delay a run's completion, however many signals and updates keep arriving. */
const restsMax = 10;

/**
 * Called before a run ends or continues as new. A signal or update of the current workflow task is not in
 * history yet, and Temporal refuses a task that ends a run while a new one arrives: the signal would be
 * lost, although its effects are in the store. So this task ends first.
 */
export async function keepWhatWasHeard(walk: Walk): Promise<void> {
  for (let rests = 0; wasHeardNow(walk) && rests < restsMax; rests += 1) {
    toldRuns.delete(walk);
    await CancellationScope.nonCancellable(() => sleep(1));
  }
}

export function told(walk: Walk): void {
  toldRuns.add(walk);
}

export const wasHeardNow = (walk: Walk): boolean => toldRuns.has(walk);

/** Whether a run has to rest before the next effect of a local activity: true once for each task that changed it. */
export const takesChange = (walk: Walk): boolean => changedRuns.delete(walk);

/** To be called by a handler that goes on after its turn, when it changes the run. */
export function changed(walk: Walk): void {
  changedRuns.add(walk);
}

/** When the handler's turn comes, `refuse` throws if the run has passed the point at which the request made sense. */
export function lastInTurn<Result>(
  walk: Walk,
  refuse: () => void,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  told(walk);
  return CancellationScope.nonCancellable(() => settled(walk)).then(() => {
    refuse();
    changed(walk);
    return work();
  });
}

/**
 * If a local activity outlasts its workflow task, the live run sees its end before the next task's signals,
 * and a replay sees it after them. With no local activity in flight, both see the same.
 */
async function settled(walk: Walk): Promise<void> {
  await settleActivation();
  while (asksLocally(walk)) {
    await condition(() => !asksLocally(walk));
    await settleActivation();
  }
}
