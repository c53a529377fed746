/**
 * A parallel step: every branch is a strand of its own over a snapshot of the scope. What the
 * branches set is merged in branch order when all have ended, so the result does not depend on which
 * was quicker. Without `failFast` every branch runs to its end; with it the first failure cancels
 * the others. The step fails with the failure of the first branch, in order, that failed.
 */
import type { ParallelStep } from '../language/model.ts';
import { driveAll, type Walking } from './drive.ts';
import type { Strand } from './host.ts';
import type { Flow, Place } from './effect.ts';
import { isAbort } from '../language/failure.ts';
import { walkInside } from './attempts.ts';
import { labelOf } from './build-effect.ts';
import type { BlockFrame, BranchFrame } from './position.ts';
import { finish } from './results.ts';
import { record, setVariable, type Walk } from './walk-state.ts';

interface Fan {
  walk: Walk;
  strand: Strand;
  place: Place;
  /** The first failure cancels the other branches; a persona's abort always does. */
  failFast: boolean;
  branches: BranchFrame[];
  walkBranch: (branch: Strand) => Walking<Flow>;
  cancels: Map<BranchFrame, () => void>;
  /** Cancels the effects of every branch, of which those that have ended have none; set once the branches have begun. */
  cancelEffects?: () => void;
  /** A branch failed while the others were still being begun. */
  mustCancel?: boolean;
  /** What a branch ended with that ends the whole fan: a stop, a cancellation, a yield. */
  interrupted: Flow | null;
  /** Branches that went back to continue as new. */
  yielded: Set<number>;
  failed: boolean;
}

export function* walkParallel(
  walk: Walk,
  strand: Strand,
  step: ParallelStep,
  place: Place,
  frame: BlockFrame,
  walkBranch: (branch: Strand) => Walking<Flow>,
): Walking<Flow> {
  let open = frame.step;
  if (open === undefined) {
    const branches = step.branches.map((): BranchFrame => ({ status: 'waiting', own: {}, block: { at: 0 } }));
    open = { type: 'parallel', branches, startedAt: walk.host.now() };
    frame.step = open;
    record(walk, { type: 'step-started', key: place.key, step: 'parallel', label: labelOf(step) });
  }
  if (open.type !== 'parallel') throw new Error(`bug: frame of "${place.path}" is not a parallel step's`);
  const { branches, startedAt, left } = open;
  const before = walk.position.steps;
  const inside = yield* walkInside(walk, strand, step, place, open, (inner) =>
    walkBranches(walk, inner, step, place, branches, walkBranch),
  );
  if (inside.kind === 'yield') open.left = { times: (left?.times ?? 0) + 1, moved: walk.position.steps > before };
  if (inside.kind === 'yield' || inside.kind === 'segment') return inside;
  for (const branch of branches) {
    for (const [name, value] of Object.entries(branch.own)) setVariable(walk, strand, name, value);
  }
  if (inside.kind === 'cancelled' || inside.kind === 'stopped') {
    finish(walk, strand, step, place, startedAt, { cancelled: true }, labelOf(step));
    return inside;
  }
  const failure = inside.kind === 'failed' ? inside.failure : null;
  return finish(
    walk,
    strand,
    step,
    place,
    startedAt,
    failure ? { failure } : { value: { branches: branches.length } },
    labelOf(step),
  );
}

function* walkBranches(
  walk: Walk,
  strand: Strand,
  step: ParallelStep,
  place: Place,
  branches: BranchFrame[],
  walkBranch: Fan['walkBranch'],
): Walking<Flow> {
  const failFast =
    step.failFast === true || branches.some((branch) => branch.failure !== undefined && isAbort(branch.failure));
  const failed = branches.some((branch) => branch.status === 'failed');
  const fan: Fan = {
    walk,
    strand,
    place,
    failFast,
    branches,
    walkBranch,
    cancels: new Map(),
    interrupted: null,
    yielded: new Set(),
    failed,
  };
  const runners = Math.min(step.maxConcurrency ?? branches.length, branches.length);
  yield* together(
    fan,
    Array.from({ length: runners }, () => takeBranches(fan)),
  );
  const { interrupted } = fan;
  if (interrupted !== null && interrupted.kind !== 'yield') {
    // The run does not continue after all: who has gone back for it closes what is open, and cleans up.
    yield* together(
      fan,
      Array.from(fan.yielded, (index) => closeBranch(fan, index)),
    );
    // They were cancelled for its sake, which is not why the run ends.
    if (fan.yielded.size > 0) return interrupted;
  }
  if (fan.interrupted) return fan.interrupted;
  // An abort is the end whatever the others did; else the first in order that failed.
  const failures = branches.flatMap((branch) => branch.failure ?? []);
  const failure = failures.find(isAbort) ?? failures[0];
  return failure === undefined ? { kind: 'done' } : { kind: 'failed', failure };
}

function* together(fan: Fan, runners: Walking<void>[]): Walking<void> {
  const suspended = (): void => fan.walk.host.suspended();
  const group = fan.walk.host.group(() => driveAll(runners, suspended));
  fan.cancelEffects = group.cancel;
  if (fan.mustCancel === true) group.cancel();
  // Who closes branches afterwards is no longer among those that the failure cancelled.
  delete fan.mustCancel;
  yield group.ended;
  delete fan.cancelEffects;
}

/** One of `maxConcurrency` runners: takes the next branch that is under way or waiting, in order. */
function* takeBranches(fan: Fan): Walking<void> {
  for (;;) {
    const index = fan.branches.findIndex((branch) => isTakeable(fan, branch));
    const branch = fan.branches[index];
    if (branch === undefined) return;
    if (fan.failed && fan.failFast && branch.status === 'waiting') {
      branch.status = 'cancelled';
      continue;
    }
    const isLeftOpen = yield* runBranch(fan, branch, index);
    if (isLeftOpen) return;
  }
}

function branchAt({ branches }: Fan, index: number): BranchFrame {
  const branch = branches[index];
  if (branch === undefined) throw new Error(`bug: there is no branch ${index}`);
  return branch;
}

function* closeBranch(fan: Fan, index: number): Walking<void> {
  yield* runBranch(fan, branchAt(fan, index), index);
}

function isTakeable(fan: Fan, branch: BranchFrame): boolean {
  return (branch.status === 'open' || branch.status === 'waiting') && !fan.cancels.has(branch);
}

/** True when the runner should take no further branch: this one is still open. */
function* runBranch(fan: Fan, branch: BranchFrame, index: number): Walking<boolean> {
  const { strand, place } = fan;
  branch.status = 'open';
  const child: Strand = {
    path: `${place.path}.branches.${index}`,
    passes: [...place.passes],
    frame: { block: branch.block },
    own: branch.own,
    outer: [strand.own, ...strand.outer],
    // Begun before the run continued as new, and to be cancelled since: it closes what it has open.
    cancelled: (fan.failed && fan.failFast) || fan.yielded.has(index),
    within: strand,
    ...(strand.forgiven === true ? { forgiven: true } : {}),
  };
  fan.cancels.set(branch, () => {
    child.cancelled = true;
  });
  const flow = yield* fan.walkBranch(child);
  switch (flow.kind) {
    case 'done':
      branch.status = 'done';
      return false;
    case 'failed':
      branch.status = 'failed';
      branch.failure = flow.failure;
      fan.failed = true;
      fan.failFast ||= isAbort(flow.failure);
      if (fan.failFast) cancelOthers(fan, branch);
      return false;
    case 'cancelled':
      if (fan.failed && fan.failFast) {
        branch.status = 'cancelled';
        return false;
      }
      fan.interrupted = flow;
      return true;
    case 'stopped':
      fan.interrupted = fan.interrupted?.kind === 'cancelled' ? fan.interrupted : flow;
      return true;
    case 'yield':
    case 'segment':
      fan.yielded.add(index);
      fan.interrupted ??= { kind: 'yield' };
      return true;
    default:
      return flow satisfies never;
  }
}

function cancelOthers(fan: Fan, failed: BranchFrame): void {
  for (const [branch, cancel] of fan.cancels) {
    if (branch !== failed && branch.status === 'open') cancel();
  }
  if (fan.cancelEffects === undefined) fan.mustCancel = true;
  else fan.cancelEffects();
}
