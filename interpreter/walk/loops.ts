/**
 * Loops of every kind, from wherever their frame stands.
 *
 * Between passes: the bounds, then `while` or `max`, then the pause, or the wait for an event; then the
 * pass begins and binds its item (pass N binds item N−1). After a pass: `until`, then bounds that the first pass has
 * given a value. The run's own loop stops the run when its
 * passes are spent; an inner loop that reaches its own `maxIterations` or `timeoutMs` ends with a
 * warning, and the run goes on.
 */
import { isTruthy, tryEvaluate } from '../../language/expression/evaluate.ts';
import type { LoopConfig } from '../../language/model.ts';
import { valueOfEvent } from '../../language/events/published-event.ts';
import { flowOf } from '../attempts.ts';
import type { Walking } from '../drive.ts';
import { readEventPattern, unknownInCheck } from '../build-effect.ts';
import type { Strand } from '../host.ts';
import type { Flow } from '../effect.ts';
import { stepKey } from '../keys.ts';
import { holdAtLimit, passesSpent, remainingMs, runningMs } from '../limits.ts';
import { namesAt } from '../names.ts';
import { tallyPass } from '../outcome.ts';
import { leaveStep, type LoopFrame } from '../position.ts';
import { heldMs, record, setVariable, type Walk } from '../walk-state.ts';
import { bindItem, bodyOf, loopPath, readBounds, readLateBounds, type LoopBlock } from './loop-bounds.ts';
import { deadline, takeRest, catchEvent, refusedPattern } from '../waits.ts';

type EventLoop = Extract<LoopConfig, { type: 'event' }>;

const ENDED = 'ended';
type Turn = Flow | typeof ENDED | null;

export function* walkLoop(
  walk: Walk,
  strand: Strand,
  block: LoopBlock,
  frame: LoopFrame,
  walkPass: (passes: readonly number[]) => Walking<Flow>,
): Walking<Flow> {
  for (;;) {
    if (frame.between) {
      const turn = yield* beforePass(walk, strand, block, frame);
      if (turn === ENDED) return { kind: 'done' };
      if (turn) return turn;
    }
    const passes = [...block.passes, frame.pass];
    const flow = yield* walkPass(passes);
    if (flow.kind !== 'done') return flow;
    const turn = afterPass(walk, strand, block, frame, passes);
    if (turn === ENDED) return { kind: 'done' };
    if (turn) return turn;
  }
}

function* beforePass(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): Walking<Turn> {
  const { config } = block;
  if (config.type === 'once' && frame.pass > 0) return ENDED;
  if (frame.pass === 0) {
    const failure = readBounds(walk, strand, block, frame);
    if (failure) return { kind: 'failed', failure };
  }
  if (frame.max !== null && frame.pass >= frame.max) return ENDED;
  if (config.type === 'while') {
    const verdict = check(walk, strand, block, [...block.passes, frame.pass + 1], config.check);
    if (verdict !== true) return verdict === false ? ENDED : verdict;
  }
  const bounded = yield* atBound(walk, block, frame);
  if (bounded) return bounded;
  if (config.type === 'event') return yield* beginEventPass(walk, strand, block, frame, config);
  const rest = yield* restBefore(walk, strand, block, frame);
  if (rest) return rest;
  beginPass(walk, strand, block, frame);
  return null;
}

/** The pass of a loop over events is that of one event; the one that started the run is the first of the run's own loop. */
function* beginEventPass(
  walk: Walk,
  strand: Strand,
  block: LoopBlock,
  frame: LoopFrame,
  config: EventLoop,
): Walking<Turn> {
  const at = loopPath(block);
  const read = readEventPattern(walk, strand, config.event, { key: at, passes: block.passes, path: block.path });
  const refused = read.failure ?? refusedPattern(at, read.pattern);
  if (refused) return { kind: 'failed', failure: refused };
  const until =
    block.isRoot || config.timeoutMs === undefined
      ? null
      : deadline(walk, walk.host.now() + config.timeoutMs - (runningMs(walk) - frame.startedAt), heldMs(walk));
  const key = stepKey(at, [...block.passes, frame.pass]);
  const caught = yield* catchEvent(walk, strand, {
    key,
    pattern: read.pattern,
    withCause: block.isRoot && frame.pass === 0,
    until,
  });
  if ('flow' in caught) return caught.flow;
  if ('late' in caught) return (yield* atBound(walk, block, frame)) ?? ENDED;
  setVariable(walk, strand, 'event', valueOfEvent(caught.event));
  beginPass(walk, strand, block, frame);
  return null;
}

function beginPass(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): void {
  frame.pass += 1;
  frame.between = false;
  frame.rested = false;
  frame.block.at = 0;
  leaveStep(frame.block);
  bindItem(walk, strand, block, frame);
}

function* atBound(walk: Walk, block: LoopBlock, frame: LoopFrame): Walking<Turn> {
  const { config } = block;
  if (!block.isRoot && config.type !== 'once') {
    const spent = config.maxIterations !== undefined && frame.pass >= config.maxIterations;
    const late = config.timeoutMs !== undefined && runningMs(walk) - frame.startedAt >= config.timeoutMs;
    if (spent || late) {
      const bound = spent ? `maxIterations ${config.maxIterations}` : `timeoutMs ${config.timeoutMs}`;
      record(walk, {
        type: 'warning',
        key: stepKey(block.path, block.passes),
        code: 'LOOP_LIMIT_REACHED',
        message: `${block.path}: the loop ended at its bound (${bound}) after ${frame.pass} passes`,
      });
      return ENDED;
    }
    if (config.maxIterations !== undefined || frame.max !== null) return null;
  }
  while (config.type !== 'once' && passesSpent(walk, config, frame.pass)) {
    const flow = yield* holdAtLimit(walk, 'maxIterations');
    if (flow) return flow;
  }
  return null;
}

function* restBefore(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): Walking<Turn> {
  const { config } = block;
  if (config.type !== 'continuous' || config.intervalMs === undefined || frame.pass === 0 || frame.rested) return null;
  const ms = Math.min(config.intervalMs, remainingMs(walk, strand) ?? config.intervalMs);
  const key = stepKey(loopPath(block), [...block.passes, frame.pass]);
  const gate = yield* takeRest(walk, strand, key, ms, frame, block.isRoot);
  if (gate !== 'go') return flowOf(gate);
  frame.rested = true;
  return null;
}

function afterPass(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame, passes: number[]): Turn {
  const { config } = block;
  frame.between = true;
  if (block.isRoot) {
    tallyPass(walk.position.tally, strand.own, walk.input.parent !== null);
    if (config.type !== 'once') record(walk, { type: 'pass-finished', key: '', pass: frame.pass });
  }
  if (config.type === 'until') {
    const verdict = check(walk, strand, block, passes, config.check);
    if (verdict !== false) return verdict === true ? ENDED : verdict;
  }
  const failure = readLateBounds(walk, strand, block, frame);
  return failure === null ? null : { kind: 'failed', failure };
}

function check(
  walk: Walk,
  strand: Strand,
  block: LoopBlock,
  passes: readonly number[],
  expression: string,
): boolean | Flow {
  const verdict = tryEvaluate(expression, namesAt(walk, strand, passes, bodyOf(block)));
  if (verdict.ok) {
    const at = loopPath(block);
    const failure = unknownInCheck(walk, stepKey(at, passes), `${at}.check`, verdict.lost);
    return failure === null ? isTruthy(verdict.value) : { kind: 'failed', failure };
  }
  return {
    kind: 'failed',
    failure: { code: 'EXPRESSION_FAILED', message: `${loopPath(block)}.check: ${verdict.message}`, retryable: false },
  };
}
