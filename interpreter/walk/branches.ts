/**
 * A parallel step: every branch is a strand of its own over a snapshot of the scope. What the
 * branches set is merged in branch order when all have ended, so the result does not depend on which
 * was quicker. Without `failFast` every branch runs to its end; with it the first failure cancels
 * the others. The step fails with the failure of the first branch, in order, that failed.
 *
 * Over a list the one body of the step is walked for each item (items.ts), and a frame is kept of those under way alone.
 */
import type { ParallelStep } from '../../language/model.ts';
import { driveAll, type Walking } from '../drive.ts';
import type { Strand } from '../host.ts';
import type { Ending, Flow, Place } from '../effect.ts';
import { isAbort, type FailureInfo } from '../../language/failure.ts';
import { endsEarly, linesAtOnce } from '../../language/blocks.ts';
import { defined } from '../../language/defined.ts';
import { beginLines, itemsEnd, itemsLeft, itemsOf, type Items, type Lines } from './items.ts';
import { walkInside } from '../attempts.ts';
import { labelOf } from '../build-effect.ts';
import type { BlockFrame, BranchFrame } from '../position.ts';
import { finish } from '../results.ts';
import { record, setVariable, type Walk } from '../walk-state.ts';
import { isOfBranchAlone } from '../workspace.ts';
import { branched } from '../places.ts';

interface Fan {
  walk: Walk;
  strand: Strand;
  place: Place;
  /** The first failure cancels the other branches; a persona's abort always does. */
  failFast: boolean;
  branches: BranchFrame[];
  /** Of a step over a list: what is still to begin, and what ended. */
  items?: Items;
  walkBranch: (branch: Strand) => Walking<Flow>;
  cancels: Map<BranchFrame, () => void>;
  /** Cancels the effects of every branch, of which those that have ended have none; set once the branches have begun. */
  cancelEffects?: () => void;
  /** A branch failed while the others were still being begun. */
  mustCancel?: boolean;
  /** What a branch ended with that ends the whole fan: a stop, a cancellation, a yield. */
  interrupted: Flow | null;
  /** Branches that went back to continue as new. */
  yielded: Set<BranchFrame>;
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
    const startedAt = walk.host.now();
    const begun = beginLines(walk, strand, step, place);
    if ('code' in begun) return finish(walk, strand, step, place, startedAt, { failure: begun }, labelOf(step));
    open = { type: 'parallel', ...begun, startedAt };
    frame.step = open;
    record(walk, { type: 'step-started', key: place.key, step: 'parallel', label: labelOf(step) });
  }
  if (open.type !== 'parallel') throw new Error(`bug: frame of "${place.path}" is not a parallel step's`);
  const { branches, startedAt, left, items } = open;
  const before = walk.position.steps;
  const inside = yield* walkInside(walk, strand, step, place, open, (inner) =>
    walkBranches(walk, inner, step, place, { branches, ...defined({ items }) }, walkBranch),
  );
  if (inside.kind === 'yield') open.left = { times: (left?.times ?? 0) + 1, moved: walk.position.steps > before };
  if (inside.kind === 'yield' || inside.kind === 'segment') return inside;
  if (walk.host.linesEnd(strand, place, frame) === 'yield') {
    open.left = { times: (left?.times ?? 0) + 1, moved: false };
    return { kind: 'yield' };
  }
  const ended = items === undefined ? {} : { items: itemsEnd(items, branches) };
  for (const branch of items === undefined ? branches : []) {
    for (const [name, value] of Object.entries(branch.own))
      if (!isOfBranchAlone(name)) setVariable(walk, strand, name, value);
  }
  if (inside.kind === 'cancelled' || inside.kind === 'stopped') {
    finish(walk, strand, step, place, startedAt, { cancelled: true, ...ended }, labelOf(step));
    return inside;
  }
  const value = items?.results ?? { branches: branches.length };
  const ending: Ending = inside.kind === 'failed' ? { failure: inside.failure } : { value };
  return finish(walk, strand, step, place, startedAt, { ...ending, ...ended }, labelOf(step));
}

function* walkBranches(
  walk: Walk,
  strand: Strand,
  step: ParallelStep,
  place: Place,
  { branches, items: frame }: Lines,
  walkBranch: Fan['walkBranch'],
): Walking<Flow> {
  const items = frame === undefined ? undefined : itemsOf(walk, strand, step, place, frame);
  if (items !== undefined && 'code' in items) return { kind: 'failed', failure: items };
  const failFast =
    endsEarly(step) || branches.some((branch) => branch.failure !== undefined && isAbort(branch.failure));
  const failed = branches.some((branch) => branch.status === 'failed');
  const fan: Fan = {
    walk,
    strand,
    place,
    failFast,
    branches,
    ...defined({ items }),
    walkBranch,
    cancels: new Map(),
    interrupted: null,
    yielded: new Set(),
    failed,
  };
  const lines = frame === undefined ? branches.length : branches.length + itemsLeft(frame);
  yield* together(
    fan,
    Array.from({ length: Math.min(linesAtOnce(step), lines) }, () => takeBranches(fan)),
  );
  const { interrupted } = fan;
  if (interrupted !== null && interrupted.kind !== 'yield') {
    // The run does not continue after all: who has gone back for it closes what is open, and cleans up.
    yield* together(
      fan,
      Array.from(fan.yielded, (branch) => closeBranch(fan, branch)),
    );
    // They were cancelled for its sake, which is not why the run ends.
    if (fan.yielded.size > 0) return interrupted;
  }
  if (fan.interrupted) return fan.interrupted;
  // An abort is the end whatever the others did; else the first in order that failed.
  const failures = inOrder(branches).flatMap((branch) => branch.failure ?? []);
  const failure = failures.find(isAbort) ?? failures[0];
  return failure === undefined ? { kind: 'done' } : { kind: 'failed', failure };
}

function* together(fan: Fan, runners: Walking<void>[]): Walking<void> {
  const suspended = (): void => fan.walk.host.suspended();
  const lines = branched(fan.walk, runners, () => fan.interrupted === null);
  const group = fan.walk.host.group(() => driveAll(lines, suspended));
  fan.cancelEffects = group.cancel;
  if (fan.mustCancel === true) group.cancel();
  // Who closes branches afterwards is no longer among those that the failure cancelled.
  delete fan.mustCancel;
  yield group.ended;
  delete fan.cancelEffects;
}

/** Items begin in the order of their list, and an earlier one may have been left open longer than a later one. */
const inOrder = (branches: readonly BranchFrame[]): BranchFrame[] =>
  branches.toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0));

/** One of `maxConcurrency` runners: takes the next branch that is under way or waiting, in order. */
function* takeBranches(fan: Fan): Walking<void> {
  for (;;) {
    const isOver = fan.failed && fan.failFast;
    const branch = fan.branches.find((other) => isTakeable(fan, other)) ?? (isOver ? undefined : beginItem(fan));
    if (branch === undefined) return;
    if (isOver && branch.status === 'waiting') {
      branch.status = 'cancelled';
      continue;
    }
    const isLeftOpen = yield* runBranch(fan, branch);
    if (isLeftOpen) return;
  }
}

function beginItem({ items, branches }: Fan): BranchFrame | undefined {
  const branch = items?.begin();
  if (branch !== undefined) branches.push(branch);
  return branch;
}

function* closeBranch(fan: Fan, branch: BranchFrame): Walking<void> {
  yield* runBranch(fan, branch);
}

function isTakeable(fan: Fan, branch: BranchFrame): boolean {
  return (branch.status === 'open' || branch.status === 'waiting') && !fan.cancels.has(branch);
}

/** True when the runner should take no further branch: this one is still open. */
function* runBranch(fan: Fan, branch: BranchFrame): Walking<boolean> {
  const { strand, place, items } = fan;
  branch.status = 'open';
  const child: Strand = {
    path: branch.item === undefined ? `${place.path}.branches.${fan.branches.indexOf(branch)}` : `${place.path}.steps`,
    passes: branch.item === undefined ? [...place.passes] : [...place.passes, branch.item],
    frame: { block: branch.block },
    own: branch.own,
    outer: [strand.own, ...strand.outer],
    // Begun before the run continued as new, and to be cancelled since: it closes what it has open.
    cancelled: (fan.failed && fan.failFast) || fan.yielded.has(branch),
    within: strand,
    ...(strand.forgiven === true || items?.collects === true ? { forgiven: true } : {}),
  };
  fan.cancels.set(branch, () => {
    child.cancelled = true;
  });
  const flow = yield* fan.walkBranch(child);
  switch (flow.kind) {
    case 'done':
      branch.status = 'done';
      items?.end(branch);
      if (items !== undefined) drop(fan, branch);
      return false;
    case 'failed':
      if (items?.collects === true && !isAbort(flow.failure)) {
        if (fan.walk.host.itemFails(place, child) === 'yield') return yieldedAt(fan, branch);
        items.end(branch, flow.failure);
        drop(fan, branch);
        return false;
      }
      return failedAt(fan, branch, flow.failure);
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
      return yieldedAt(fan, branch);
    default:
      return flow satisfies never;
  }
}

/** Another walk goes on with it from where it stands. */
function yieldedAt(fan: Fan, branch: BranchFrame): true {
  fan.yielded.add(branch);
  fan.interrupted ??= { kind: 'yield' };
  return true;
}

/** The branch stays, with its failure. */
function failedAt(fan: Fan, branch: BranchFrame, failure: FailureInfo): false {
  branch.status = 'failed';
  branch.failure = failure;
  fan.failed = true;
  fan.failFast ||= isAbort(failure);
  if (fan.failFast) cancelOthers(fan, branch);
  return false;
}

/** Of an item that ended its result is kept, and no frame. */
function drop({ branches, cancels }: Fan, branch: BranchFrame): void {
  branches.splice(branches.indexOf(branch), 1);
  cancels.delete(branch);
}

function cancelOthers(fan: Fan, failed: BranchFrame): void {
  for (const [branch, cancel] of fan.cancels) {
    if (branch !== failed && branch.status === 'open') cancel();
  }
  if (fan.cancelEffects === undefined) fan.mustCancel = true;
  else fan.cancelEffects();
}
