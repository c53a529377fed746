/** Local activities of a run, and whether one is under way. */
import { CancellationScope, scheduleLocalActivity, type LocalActivityOptions } from '@temporalio/workflow';
import { CHANGES } from './changes.ts';
import { hasChange } from './has-change.ts';
import type { Walk } from './interpreter/ledger.ts';
import { othersFirst } from './others-first.ts';

interface UnderWay {
  count: number;
  waiting: (() => void)[];
}

/** Handlers that waited, too, have then begun what they begin. */
const looks = 12;

const runs = new WeakMap<Walk, UnderWay>();

/** Rejects where the activity does, or when its scope is cancelled. */
export function askLocally<Result>(walk: Walk, type: string, args: unknown[], options: LocalActivityOptions): Promise<Result> {
  const result = scheduleLocalActivity<Result>(type, args, options);
  if (hasChange(walk.input, CHANGES.handlersSettled)) {
    const run = runs.get(walk) ?? { count: 0, waiting: [] };
    runs.set(walk, run);
    run.count += 1;
    const ended = (): void => {
      run.count -= 1;
      if (run.count === 0 && run.waiting.length > 0) void tellWaiting(run);
    };
    result.then(ended, ended);
  }
  return result;
}

export const asksLocally = (walk: Walk): boolean => (runs.get(walk)?.count ?? 0) > 0;

/** Called back in the activation that resolves the last local activity, once what follows from it has begun none. */
export function whenNothingLocal(walk: Walk, act: () => void): void {
  const run = runs.get(walk);
  if (run === undefined || run.count === 0) act();
  else run.waiting.push(act);
}

async function tellWaiting(run: UnderWay): Promise<void> {
  await CancellationScope.nonCancellable(() => othersFirst(looks));
  if (run.count > 0) return;
  for (const act of run.waiting.splice(0)) act();
}
