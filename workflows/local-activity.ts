/** Local activities of a run, and whether one is under way. */
import { scheduleLocalActivity, type LocalActivityOptions } from '@temporalio/workflow';
import { CHANGES } from './changes.ts';
import { hasChange } from './has-change.ts';
import type { Walk } from './interpreter/ledger.ts';

const underWay = new WeakMap<Walk, number>();

/** Rejects where the activity does, or when its scope is cancelled. */
export function askLocally<Result>(walk: Walk, type: string, args: unknown[], options: LocalActivityOptions): Promise<Result> {
  const result = scheduleLocalActivity<Result>(type, args, options);
  if (hasChange(walk.input, CHANGES.handlersSettled)) {
    count(walk, 1);
    const ended = (): void => count(walk, -1);
    result.then(ended, ended);
  }
  return result;
}

export const asksLocally = (walk: Walk): boolean => (underWay.get(walk) ?? 0) > 0;

function count(walk: Walk, more: number): void {
  underWay.set(walk, (underWay.get(walk) ?? 0) + more);
}
