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
import { walkParallel } from './branches.ts';
import { wait, type Walking } from './drive.ts';
import { effectOf, isQuick, labelOf } from './effects.ts';
import { isCancelled, type Flow, type SegmentReport, type Strand } from './host.ts';
import { stepKey } from './keys.ts';
import { finish, record, type Ending, type Place, type Walk } from './ledger.ts';
import { holdAtLimit, limitReached, runningMs } from './limits.ts';
import { walkLoop, type LoopBlock } from './loops.ts';
import { namesAt } from './names.ts';
import { firstLoopFrame, type BlockFrame, type LoopFrame } from './position.ts';
import { stepsAt } from './program.ts';

/** The run itself, from wherever its position stands. */
export function rootStrand(walk: Walk): Strand {
  const { loop, own } = walk.position;
  return { path: '', passes: [], frame: { loop }, own, outer: [], cancelled: false, within: null };
}

/**
 * Walks a strand to its end, or to where the host wants it back. When the host can run quick steps
 * in a segment, the walk unwinds to here, lets the segment advance the strand, and descends again.
 */
export function* walkStrand(walk: Walk, strand: Strand): Walking<Flow> {
  for (;;) {
    const flow = yield* descend(walk, strand);
    if (flow.kind !== 'segment') return flow;
    const report = yield* wait(walk.host.segment(strand, flow.key));
    adopt(walk, strand, report);
    // A cancelled strand descends once more, so that every step open around the segment records its end.
    if (report.flow.kind === 'cancelled') strand.cancelled = true;
    else if (report.flow.kind !== 'yield') return report.flow;
  }
}

function descend(walk: Walk, strand: Strand): Walking<Flow> {
  const { definition } = walk.input;
  if ('loop' in strand.frame) {
    const block = { config: definition.loop, steps: definition.steps, path: '', passes: [], isRoot: true };
    return walkLoopBlock(walk, strand, block, strand.frame.loop);
  }
  return walkBlock(walk, strand, stepsAt(definition, strand.path), strand.path, strand.passes, strand.frame.block);
}

function adopt(walk: Walk, strand: Strand, report: SegmentReport): void {
  if ('loop' in strand.frame && 'loop' in report.frame) Object.assign(strand.frame.loop, report.frame.loop);
  if ('block' in strand.frame && 'block' in report.frame) {
    delete strand.frame.block.open;
    Object.assign(strand.frame.block, report.frame.block);
  }
  Object.assign(strand.own, report.set);
  walk.position.steps += report.steps;
  if (report.tally) walk.position.tally = report.tally;
}

/** Runs the steps of a block in order, from where its frame stands. */
function* walkBlock(
  walk: Walk,
  strand: Strand,
  steps: readonly Step[],
  path: string,
  passes: readonly number[],
  frame: BlockFrame,
): Walking<Flow> {
  while (frame.at < steps.length) {
    const step = steps[frame.at];
    if (step === undefined) throw new Error(`bug: step "${path}.${frame.at}" vanished`);
    const stepPath = `${path}.${frame.at}`;
    const place: Place = { path: stepPath, passes, key: stepKey(stepPath, passes) };
    const flow = (yield* askGate(walk, strand, place.key, step)) ?? (yield* walkStep(walk, strand, step, place, frame));
    if (flow.kind !== 'done') return flow;
    delete frame.open;
    frame.at += 1;
  }
  return { kind: 'done' };
}

function walkLoopBlock(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): Walking<Flow> {
  const path = block.isRoot ? 'steps' : `${block.path}.steps`;
  return walkLoop(walk, strand, block, frame, (passes) => walkBlock(walk, strand, block.steps, path, passes, frame.block));
}

/** Null when the step may run; the flow to return otherwise. */
function* askGate(walk: Walk, strand: Strand, key: string, step: Step): Walking<Flow | null> {
  if (isCancelled(strand)) return { kind: 'cancelled' };
  for (let limit = limitReached(walk); limit !== null; limit = limitReached(walk)) {
    const flow = yield* holdAtLimit(walk, limit);
    if (flow) return flow;
  }
  const asked = walk.host.gate(strand, key, step);
  const gate = typeof asked === 'string' ? asked : yield* wait(asked);
  switch (gate) {
    case 'go':
      return isCancelled(strand) ? { kind: 'cancelled' } : null;
    case 'yield':
      return { kind: 'yield' };
    case 'segment':
      return { kind: 'segment', key };
    case 'stop':
      return { kind: 'stopped', limit: 'stop' };
    case 'cancel':
      return { kind: 'cancelled' };
    default:
      return gate satisfies never;
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
      return yield* walkLeaf(walk, strand, step, place);
    case 'llm':
    case 'watch':
    case 'approval':
      return finish(walk, strand, step, place, walk.host.now(), unavailable(step, place.key), labelOf(step));
    default:
      return step satisfies never;
  }
}

function unavailable(step: Step, key: string): Ending {
  const message = `${key}: "${step.type}" steps cannot run in this version; remove the step or use a shell or command step`;
  return { failure: { code: 'STEP_NOT_AVAILABLE', message, retryable: false } };
}

type Leaf = Extract<Step, { type: 'shell' | 'command' | 'emit' | 'sentinel' }>;

function* walkLeaf(walk: Walk, strand: Strand, step: Leaf, place: Place): Walking<Flow> {
  for (;;) {
    const startedAt = walk.host.now();
    const built = effectOf(walk, strand, step, place);
    for (const name of built.unresolved) {
      const message = `${place.key}: "${name}" has no value here`;
      record(walk, { type: 'warning', key: place.key, code: 'UNRESOLVED_REFERENCE', message });
    }
    if ('failure' in built) return finish(walk, strand, step, place, startedAt, { failure: built.failure }, labelOf(step));
    const { effect } = built;
    if (!isQuick(step)) record(walk, { type: 'step-started', key: place.key, step: step.type, label: effect.label });
    walk.position.steps += 1;
    const reply = yield* wait(walk.host.perform(strand, effect));
    const ending: Ending = reply.ok ? { value: reply.value } : 'cancelled' in reply ? { cancelled: true } : { failure: reply.failure };
    const flow = finish(walk, strand, step, place, startedAt, ending, effect.label);
    const limit = flow.kind === 'failed' ? limitReached(walk) : null;
    if (limit === null) return flow;
    const held = yield* holdAtLimit(walk, limit);
    if (held) return held;
  }
}

function* walkCondition(walk: Walk, strand: Strand, step: ConditionStep, place: Place, frame: BlockFrame): Walking<Flow> {
  let open = frame.open;
  if (open === undefined) {
    const startedAt = walk.host.now();
    const verdict = tryEvaluate(step.check, namesAt(walk, strand, place.passes));
    if (!verdict.ok) {
      const failure = { code: 'EXPRESSION_FAILED', message: `${place.path}.check: ${verdict.message}`, retryable: false };
      return finish(walk, strand, step, place, startedAt, { failure }, labelOf(step));
    }
    open = { type: 'condition', branch: isTruthy(verdict.value) ? 'then' : 'else', block: { at: 0 }, startedAt };
    frame.open = open;
    finish(walk, strand, step, place, startedAt, { value: open.branch }, labelOf(step));
  }
  if (open.type !== 'condition') throw new Error(`bug: frame of "${place.path}" is not a condition's`);
  const steps = (open.branch === 'then' ? step.then : step.else) ?? [];
  return yield* walkBlock(walk, strand, steps, `${place.path}.${open.branch}`, place.passes, open.block);
}

function* walkLoopStep(walk: Walk, strand: Strand, step: LoopStep, place: Place, frame: BlockFrame): Walking<Flow> {
  let open = frame.open;
  if (open === undefined) {
    const startedAt = walk.host.now();
    open = { type: 'loop', startedAt, loop: firstLoopFrame(runningMs(walk)) };
    frame.open = open;
    record(walk, { type: 'step-started', key: place.key, step: 'loop', label: labelOf(step) });
  }
  if (open.type !== 'loop') throw new Error(`bug: frame of "${place.path}" is not a loop's`);
  const block = { config: boundedLoop(step), steps: step.steps, path: place.path, passes: place.passes, isRoot: false };
  const flow = yield* walkLoopBlock(walk, strand, block, open.loop);
  if (flow.kind === 'yield' || flow.kind === 'segment') return flow;
  if (flow.kind === 'cancelled' || flow.kind === 'stopped') {
    finish(walk, strand, step, place, open.startedAt, { cancelled: true }, labelOf(step));
    return flow;
  }
  const ending: Ending = flow.kind === 'failed' ? { failure: flow.failure } : { value: { iterations: open.loop.pass } };
  return finish(walk, strand, step, place, open.startedAt, ending, labelOf(step));
}

/** A loop step's own `timeoutMs` bounds its loop. */
function boundedLoop(step: LoopStep): LoopStep['loop'] {
  const { loop, timeoutMs } = step;
  return loop.type === 'once' || timeoutMs === undefined ? loop : { ...loop, timeoutMs: Math.min(timeoutMs, loop.timeoutMs ?? timeoutMs) };
}
