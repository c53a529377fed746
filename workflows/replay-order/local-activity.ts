/**
 * Local activities of a run, and whether one is in flight. A replay delivers in one activation the completions
 * that had arrived separately, so completions are processed one after the other. A local activity that would
 * outlast its workflow task is abandoned in time, and a regular activity does its work (docs/internal/decisions/0012).
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  scheduleActivity,
  scheduleLocalActivity,
  TimeoutFailure,
  workflowInfo,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import type { Walk } from '../../interpreter/walk-state.ts';
import { refuseUnsealed } from '../seal/refuse-unsealed.ts';
import { settleActivation } from './settle-activation.ts';
import { defined } from '../../language/defined.ts';
import { openIn, type BlockFrame, type Position } from '../../interpreter/position.ts';

interface UnderWay {
  walk: Walk;
  count: number;
  /** How many were asked of regular activities. */
  late: number;
  waiting: (() => void)[];
  /** Completions of local activities that have not been processed yet, in their order. */
  ends: (() => void)[];
  isTaking: boolean;
}

/** Handlers that waited, too, have then begun what they begin. */
const looks = 12;
/**
 * Of the time of a workflow task; the worker lets a task go on in another one after four fifths of it.
 * Until a run rests, the local activities of a task take a tenth (task-time.ts).
 */
const shares = { toStart: 0.2, toEnd: 0.3 };
/** A regular activity whose worker vanished is tried again after it. */
const startToCloseTimeout = '45s';

const runs = new WeakMap<Walk, UnderWay>();

/** Rejects where the activity does, or when its scope is cancelled. */
export function askLocally<Result>(
  walk: Walk,
  type: string,
  args: unknown[],
  options: LocalActivityOptions,
): Promise<Result> {
  const run = runs.get(walk) ?? { walk, count: 0, late: 0, waiting: [], ends: [], isTaking: false };
  runs.set(walk, run);
  run.count += 1;
  return askInTask(run, type, args, options);
}

async function askInTask<Result>(
  run: UnderWay,
  type: string,
  args: unknown[],
  options: LocalActivityOptions,
): Promise<Result> {
  const { retry, summary, cancellationType } = options;
  const { taskTimeoutMs } = workflowInfo();
  // Tried once: the worker core forgets the time of one that waits to be tried again.
  const limits = {
    scheduleToStartTimeout: taskTimeoutMs * shares.toStart,
    startToCloseTimeout: taskTimeoutMs * shares.toEnd,
    retry: { maximumAttempts: 1 },
  };
  try {
    const result = await inOrder(run, scheduleLocalActivity<Result>(type, args, { ...options, ...limits }));
    refuseUnsealed(`the result of ${type}`, result);
    return result;
  } catch (error) {
    if (!isForRegular(error)) throw error;
    run.late += 1;
    const result = await scheduleActivity<Result>(type, args, {
      // A step's key is an activity id, too, and a number is one of the SDK's own.
      activityId: `${type} ${run.late}`,
      startToCloseTimeout,
      ...defined({ retry, summary, cancellationType }),
    });
    refuseUnsealed(`the result of ${type}`, result);
    return result;
  }
}

/**
 * A replay delivers in one activation the completions that had arrived separately, together with what the task
 * began with. So each completion is processed only after the run has finished everything that follows from the
 * ones before it, as it did when they arrived separately.
 */
function inOrder<Result>(run: UnderWay, result: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    result.then(
      (value) => take(run, () => resolve(value)),
      (error: unknown) => take(run, () => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}

function take(run: UnderWay, end: () => void): void {
  run.ends.push(end);
  if (!run.isTaking) void takeEnds(run);
}

async function takeEnds(run: UnderWay): Promise<void> {
  run.isTaking = true;
  for (let end = run.ends.shift(); end !== undefined; end = run.ends.shift()) {
    // Each look costs memory; where there is one line of execution, nothing else leads anywhere.
    if (run.count > 1 || isSideBySide(run.walk.position))
      await CancellationScope.nonCancellable(() => settleActivation());
    end();
    endOne(run);
  }
  run.isTaking = false;
}

function endOne(run: UnderWay): void {
  run.count -= 1;
  if (run.count === 0 && run.waiting.length > 0) void tellWaiting(run);
}

/** Its time was over, or it failed for another reason than that it never can succeed. The worker core hands a replay the cause alone. */
function isForRegular(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure || (cause instanceof ApplicationFailure && cause.nonRetryable !== true);
}

export const asksLocally = (walk: Walk): boolean => (runs.get(walk)?.count ?? 0) > 0;

/** Called back in the activation that resolves the last local activity, once what follows from it has begun none. */
export function whenNothingLocal(walk: Walk, act: () => void): void {
  const run = runs.get(walk);
  if (run === undefined || run.count === 0) act();
  else run.waiting.push(act);
}

async function tellWaiting(run: UnderWay): Promise<void> {
  await CancellationScope.nonCancellable(() => settleActivation(looks));
  if (run.count > 0) return;
  for (const act of run.waiting.splice(0)) act();
}

/** Whether more than one line of execution may be under way: branches, or calls of a model's turn. */
function isSideBySide({ loop, cleanUp }: Pick<Position, 'loop' | 'cleanUp'>): boolean {
  return [loop.block, loop.context?.block, cleanUp?.block].some((block) => block !== undefined && hasBranches(block));
}

function hasBranches(frame: BlockFrame): boolean {
  if (frame.step?.type === 'model') return (frame.step.calls?.length ?? 0) > 1;
  const open = openIn(frame);
  switch (open?.type) {
    case undefined:
      return false;
    case 'condition':
      return hasBranches(open.block) || (open.cleanUp !== undefined && hasBranches(open.cleanUp.block));
    case 'loop':
      return hasBranches(open.loop.block);
    case 'parallel':
      return true;
    default:
      return open satisfies never;
  }
}
