/**
 * Handlers of what is said to a run take their turn last: after everything else that the same
 * activation brought. When a worker takes over, the worker core folds a workflow task that had led to
 * no command into the one after it, and gives a handler that begins there to the workflow before what
 * the first task had resolved; a later replay keeps the two apart, so the handler finds the run
 * further on. Taking the last turn, it finds the same run both times.
 */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import type { Walk } from '../../interpreter/walk-state.ts';
import { asksLocally } from './local-activity.ts';
import { settleActivation } from './settle-activation.ts';

/** Runs to which something was said since they last rested for it: known from the moment it comes, before its turn. */
const toldRuns = new WeakSet<Walk>();
/** Whoever never stops talking does not keep a run from its end. */
const restsMax = 10;

/**
 * Before a run ends or continues as new. What was said in this very workflow task is in no history
 * yet, and Temporal refuses a task that ends a run while something arrives: it would be lost, although
 * the store has what came of it. So the task ends first.
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

/** `refuse` throws where, when its turn comes, the run is past what was accepted before. */
export function lastInTurn<Result>(
  walk: Walk,
  refuse: () => void,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  told(walk);
  return CancellationScope.nonCancellable(() => settled(walk)).then(() => {
    refuse();
    return work();
  });
}

/**
 * A local activity that outlasts its workflow task ends, for the live run, before what the next task
 * brings is heard, and for a replay after it. While none is under way both find the same run.
 */
async function settled(walk: Walk): Promise<void> {
  await settleActivation();
  while (asksLocally(walk)) {
    await condition(() => !asksLocally(walk));
    await settleActivation();
  }
}
