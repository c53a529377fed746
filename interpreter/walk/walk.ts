/**
 * The interpreter: an ordinary walk over the step tree that asks a `Host` for everything.
 *
 * - I1 Nothing in this folder imports Temporal, reads the clock, or draws random numbers.
 * - I2 Position is data: the walk moves the frames of `position.ts` and keeps nothing beside them,
 *      so it can return at any gate (`yield`, `segment`) and a later walk goes on from the value.
 * - I3 Every effect carries its key.
 * - I4 One switch over step types, closed by `satisfies never`.
 * - I6 Before every step: is the run cancelled, stopped, held, or over a limit?
 */
import { isTruthy, tryEvaluate } from '../../language/expression/evaluate.ts';
import type { ConditionStep, LoopStep, Step } from '../../language/model.ts';
import { walkApproval } from '../approval.ts';
import { ANEW, walkAttempts, walkInside } from '../attempts.ts';
import { walkParallel } from './branches.ts';
import { askBudget, beginSegment, hasShare, settleSegment, spend } from '../budget.ts';
import { endWait, isAnswered, isPaidFor, walkEventWatch } from '../waits.ts';
import { wait, type Walking } from '../drive.ts';
import { beginCleanUp, walkCleanUp } from './clean-up.ts';
import { begun, isUnderWay, takeSkip } from '../edits.ts';
import { takeGroup } from './groups.ts';
import { labelOf, unknownInCheck } from '../build-effect.ts';
import { isCancelled, shieldOf, type SegmentReport, type Strand } from '../host.ts';
import type { Flow, Ending, Limit, Place } from '../effect.ts';
import { finish } from '../results.ts';
import { record, rootStrand, type Walk } from '../walk-state.ts';
import { holdAtLimit, limitReached, runningMs } from '../limits.ts';
import { bindLateItems, type LoopBlock } from './loop-bounds.ts';
import { walkLoop } from './loops.ts';
import { walkAction } from '../action-step.ts';
import { walkJoin } from './join.ts';
import { returnListResults } from '../list-portions.ts';
import { walkModel } from '../models/model-step.ts';
import { namesAt } from '../names.ts';
import { CONTEXT_BLOCK, contextFrame } from '../pass-context.ts';
import { firstLoopFrame, leaveStep, openIn, type BlockFrame, type LoopFrame } from '../position.ts';
import { lacksPlace, takePlace, waitAtGate } from '../places.ts';
import { isPlain, walkFail, walkSet } from './plain-steps.ts';
import { withdraw } from '../questions.ts';
import { timesLeft } from './segment-starts.ts';
import { walkSleep } from './sleep.ts';
import { revisionOf, stepNow, stepsOf, definitionPathOf, keySegmentOf } from '../edited-paths.ts';

/** The run, from wherever its position stands: its own steps, and then what it always does. */
export function* walkRun(walk: Walk): Walking<Flow> {
  const flow = yield* walkToEnd(walk);
  // Nobody waits any more for what a run that has ended still asks.
  if (flow.kind !== 'yield') for (const question of walk.position.questions) withdraw(walk, question);
  return flow;
}

function* walkToEnd(walk: Walk): Walking<Flow> {
  const { position } = walk;
  const root = rootStrand(walk);
  if (position.cleanUp === undefined) {
    const turned = yield* takeGroup(walk);
    if (turned !== null) return turned;
    const flow = yield* walkStrand(walk, root);
    const { always } = walk.input.definition;
    if (flow.kind === 'yield' || always === undefined) return flow;
    position.cleanUp = beginCleanUp(walk, flow);
  }
  const at = { path: 'always', passes: [position.loop.pass] };
  return yield* walkCleanUp(walk, root, at, position.cleanUp, (strand) => walkStrand(walk, strand));
}

/**
 * Walks a strand to its end, or to where the host wants it back. When the host can run quick steps
 * in a segment, the walk unwinds to here, lets the segment advance the strand, and descends again.
 */
export function* walkStrand(walk: Walk, strand: Strand): Walking<Flow> {
  for (;;) {
    const flow = yield* descend(walk, strand);
    if (flow.kind !== 'segment') return flow;
    if (flow.revision !== revisionOf(walk)) continue;
    const share = beginSegment(walk, strand, flow.key);
    if (share === null) continue;
    walk.segments = (walk.segments ?? 0) + 1;
    const report = yield* wait(walk.host.segment(strand, flow.key, share.budget));
    adopt(walk, strand, report);
    walk.segments -= 1;
    settleSegment(walk, flow.key);
    // A cancelled strand descends once more, so that every step open around the segment records its end.
    if (report.flow.kind === 'cancelled') strand.cancelled = true;
    else if (report.flow.kind !== 'yield') return report.flow;
  }
}

function descend(walk: Walk, strand: Strand): Walking<Flow> {
  const { definition } = walk.input;
  if ('loop' in strand.frame) {
    const block = { config: definition.loop, path: '', passes: [], isRoot: true };
    return walkLoopBlock(walk, strand, block, strand.frame.loop);
  }
  return walkBlock(walk, strand, strand.path, strand.passes, strand.frame.block);
}

function adopt(walk: Walk, strand: Strand, report: SegmentReport): void {
  returnListResults(strand.frame, report.frame);
  if ('loop' in strand.frame && 'loop' in report.frame) Object.assign(strand.frame.loop, report.frame.loop);
  if ('block' in strand.frame && 'block' in report.frame) {
    // A segment that was cancelled reports the very frame that it was given.
    const block = { ...report.frame.block };
    leaveStep(strand.frame.block);
    Object.assign(strand.frame.block, block);
  }
  Object.assign(strand.own, report.set);
  walk.position.steps += report.steps;
  if (report.spent) spend(walk, report.spent);
  if (report.tally) walk.position.tally = report.tally;
  for (const path of report.skipped ?? []) takeSkip(walk, path);
}

/** Runs the steps of a block in order, from where its frame stands. */
function* walkBlock(
  walk: Walk,
  strand: Strand,
  path: string,
  passes: readonly number[],
  frame: BlockFrame,
): Walking<Flow> {
  let revision = revisionOf(walk);
  let steps = stepsOf(walk, path);
  for (;;) {
    if (revision !== revisionOf(walk)) {
      revision = revisionOf(walk);
      steps = stepsOf(walk, path);
    }
    const step = steps[frame.at];
    if (step === undefined) return { kind: 'done' };
    const flow = yield* walkAttempts(walk, strand, step, { block: path, passes, frame }, (place) =>
      enter(walk, strand, step, place, path, frame),
    );
    if (flow === ANEW) continue;
    if (flow.kind !== 'done') return flow;
    bindLateItems(walk, strand, path);
    leaveStep(frame);
    frame.at += 1;
  }
}

/** From the gate before a step to its end. An edit that was made while the run stood there comes first. */
function* enter(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  block: string,
  frame: BlockFrame,
): Walking<Flow | typeof ANEW> {
  const revision = revisionOf(walk);
  const turned = yield* askGate(walk, strand, place.key, step, frame);
  if (turned?.kind === 'yield') return turned;
  const ends = turned !== null && turned.kind !== 'segment';
  if (ends && !isAnswered(walk, step, place, frame)) {
    endWait(walk, strand, step, place, frame);
    return turned;
  }
  if (revision !== revisionOf(walk)) return ANEW;
  if (turned?.kind === 'segment') return turned;
  if (
    walk.position.skips !== undefined &&
    !isUnderWay(walk, frame) &&
    takeSkip(walk, `${definitionPathOf(walk, block)}.${frame.at}`)
  ) {
    record(walk, {
      type: 'step-finished',
      key: place.key,
      step: step.type,
      label: labelOf(step),
      outcome: 'skipped',
      durationMs: 0,
    });
    return { kind: 'done' };
  }
  if (revision > 0) frame.keySegment ??= keySegmentOf(walk, frame);
  const ended = begun(walk, frame);
  try {
    return yield* walkStep(walk, strand, step, place, frame);
  } finally {
    ended();
  }
}

function walkLoopBlock(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): Walking<Flow> {
  const path = block.isRoot ? 'steps' : `${block.path}.steps`;
  return walkLoop(walk, strand, block, frame, function* (passes) {
    const context = block.isRoot ? contextFrame(walk.input.definition, frame) : null;
    const flow = context === null ? null : yield* walkBlock(walk, strand, CONTEXT_BLOCK, passes, context);
    return flow === null || flow.kind === 'done' ? yield* walkBlock(walk, strand, path, passes, frame.block) : flow;
  });
}

/**
 * Null when the step may run; the flow to return otherwise. On the way back into a step that is open
 * nothing ends: what is inside ends first, and then the step records its end and cleans up.
 */
function* askGate(walk: Walk, strand: Strand, key: string, step: Step, frame: BlockFrame): Walking<Flow | null> {
  // What was claimed may have begun, whatever has been said to the run since.
  if (frame.step?.type === 'acting') return null;
  const isOpen = openIn(frame) !== undefined;
  if (isCancelled(strand) && !isOpen) return { kind: 'cancelled' };
  const reached = (): Limit | null => (shieldOf(strand) === null && !isOpen ? limitReached(walk) : null);
  for (let limit = reached(); limit !== null; limit = reached()) {
    const flow = yield* holdAtLimit(walk, limit);
    if (flow) return flow;
  }
  if (!isPlain(step) && !isPaidFor(walk, step, frame)) {
    const flow = yield* askBudget(walk, strand);
    if (flow) return flow;
  }
  const times = isCancelled(strand) ? null : timesLeft(walk, step, frame);
  const asked = walk.host.gate(strand, key, step, isOpen && times === null);
  const answer = typeof asked === 'string' ? asked : yield* waitAtGate(walk, asked);
  // What the budget leaves no segment for is walked here: it uses none of it, or its steps ask themselves.
  const passed = answer === 'segment' && isPlain(step) && !hasShare(walk, strand) ? 'go' : answer;
  const needsPlace = (passed === 'segment' || (passed === 'go' && isWork(step))) && lacksPlace(walk, strand);
  const placed = needsPlace ? yield* takePlace(walk, strand) : null;
  // Much may have been said to the run since it came to the gate.
  if (needsPlace && placed === null) return yield* askGate(walk, strand, key, step, frame);
  const gate = placed ?? passed;
  switch (gate) {
    case 'go':
      return isCancelled(strand) && !isOpen ? { kind: 'cancelled' } : null;
    case 'yield':
      // What has been cancelled ends here: it does not go on in the next run.
      return isOpen && isCancelled(strand) ? null : { kind: 'yield' };
    case 'segment':
      return { kind: 'segment', key: times === null ? key : `${key}+${times}`, revision: revisionOf(walk) };
    case 'stop':
      return isOpen ? null : { kind: 'stopped', limit: 'stop' };
    case 'cancel':
      return isOpen ? null : { kind: 'cancelled' };
    default:
      return gate satisfies never;
  }
}

/** What is under way itself, and neither holds others nor waits for something. */
function isWork(step: Step): boolean {
  switch (step.type) {
    case 'shell':
    case 'command':
    case 'emit':
    case 'sentinel':
    case 'llm':
      return true;
    case 'watch':
      return step.event === undefined;
    case 'condition':
    case 'loop':
    case 'parallel':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
      return false;
    default:
      return step satisfies never;
  }
}

function* walkStep(walk: Walk, strand: Strand, step: Step, place: Place, frame: BlockFrame): Walking<Flow> {
  switch (step.type) {
    case 'condition':
      return yield* walkCondition(walk, strand, step, place, frame);
    case 'loop':
      return yield* walkLoopStep(walk, strand, step, place, frame);
    case 'parallel':
      return yield* walkParallel(walk, strand, step, place, frame, (branch) => walkStrand(walk, branch));
    case 'shell':
    case 'command':
    case 'emit':
    case 'sentinel':
      return yield* walkAction(walk, strand, step, place, frame);
    case 'approval':
      return yield* walkApproval(walk, strand, step, place, frame);
    case 'watch':
      return yield* step.event === undefined
        ? walkAction(walk, strand, step, place, frame)
        : walkEventWatch(walk, strand, step, place, frame);
    case 'fail':
      return walkFail(walk, strand, step, place);
    case 'set':
      return walkSet(walk, strand, step, place);
    case 'sleep':
      return yield* walkSleep(walk, strand, step, place, frame);
    case 'join':
      return yield* walkJoin(walk, strand, step, place, frame);
    case 'llm':
      return yield* walkModel(walk, strand, step, place, frame);
    default:
      return step satisfies never;
  }
}

function* walkCondition(
  walk: Walk,
  strand: Strand,
  step: ConditionStep,
  place: Place,
  frame: BlockFrame,
): Walking<Flow> {
  let open = frame.step;
  if (open === undefined) {
    const startedAt = walk.host.now();
    const verdict = tryEvaluate(step.check, namesAt(walk, strand, place.passes, place.path));
    if (!verdict.ok) {
      const failure = {
        code: 'EXPRESSION_FAILED',
        message: `${place.path}.check: ${verdict.message}`,
        retryable: false,
      };
      return finish(walk, strand, step, place, startedAt, { failure }, labelOf(step));
    }
    const unknown = unknownInCheck(walk, place.key, `${place.path}.check`, verdict.lost);
    if (unknown !== null) return finish(walk, strand, step, place, startedAt, { failure: unknown }, labelOf(step));
    open = { type: 'condition', branch: isTruthy(verdict.value) ? 'then' : 'else', block: { at: 0 }, startedAt };
    frame.step = open;
    finish(walk, strand, step, place, startedAt, { value: open.branch }, labelOf(step));
  }
  if (open.type !== 'condition') throw new Error(`bug: frame of "${place.path}" is not a condition's`);
  const { branch, block } = open;
  if (open.cleanUp === undefined) {
    const path = `${place.path}.${branch}`;
    const flow = yield* walkInside(walk, strand, step, place, open, (inner) =>
      walkBlock(walk, inner, path, place.passes, block),
    );
    if (flow.kind === 'yield' || flow.kind === 'segment' || stepNow(walk, step, place.path).always === undefined)
      return flow;
    open.cleanUp = beginCleanUp(walk, flow);
  }
  const at = { path: `${place.path}.always`, passes: place.passes };
  return yield* walkCleanUp(walk, strand, at, open.cleanUp, (inner) => walkStrand(walk, inner));
}

function* walkLoopStep(walk: Walk, strand: Strand, step: LoopStep, place: Place, frame: BlockFrame): Walking<Flow> {
  let open = frame.step;
  if (open === undefined) {
    const startedAt = walk.host.now();
    open = { type: 'loop', startedAt, loop: firstLoopFrame(runningMs(walk)) };
    frame.step = open;
    record(walk, { type: 'step-started', key: place.key, step: 'loop', label: labelOf(step) });
  }
  if (open.type !== 'loop') throw new Error(`bug: frame of "${place.path}" is not a loop's`);
  const block = { config: step.loop, path: place.path, passes: place.passes, isRoot: false };
  const { loop } = open;
  const flow = yield* walkInside(walk, strand, step, place, open, (inner) => walkLoopBlock(walk, inner, block, loop));
  if (flow.kind === 'yield' || flow.kind === 'segment') return flow;
  if (flow.kind === 'cancelled' || flow.kind === 'stopped') {
    finish(walk, strand, step, place, open.startedAt, { cancelled: true }, labelOf(step));
    return flow;
  }
  const ending: Ending = flow.kind === 'failed' ? { failure: flow.failure } : { value: { iterations: open.loop.pass } };
  return finish(walk, strand, step, place, open.startedAt, ending, labelOf(step));
}
