/**
 * From where one run stood to where another begins.
 *
 * What was done stays: variables, passes, what the passes came to, the events it has taken, and what
 * was used of the budget. What belongs to the old run itself goes: numbers of events, questions and
 * answers, holds, the runs it started. Other times than the budget's begin anew, so that nothing is
 * late at once.
 */
import { usageOf } from '../../interpreter/budget.ts';
import type { Json } from '../../language/json.ts';
import { openIn, type BlockFrame, type LoopFrame, type OpenFrame, type Position } from '../../interpreter/position.ts';
import { throughJson } from '../../interpreter/simulation/through-json.ts';

/** `takenAt`: when the old run stood there, by its clock; `now`: when the new one begins. */
export function freshPosition(old: Position, { takenAt, now }: { takenAt: number; now: number }): Position {
  const { cleanUp, ...kept } = throughJson(old);
  renewLoop(kept.loop, takenAt, now);
  if (cleanUp !== undefined) renewCleanUp(cleanUp, takenAt, now);
  return {
    ...kept,
    ...(cleanUp === undefined ? {} : { cleanUp }),
    seq: 0,
    steps: 0,
    spent: usageOf({ position: old }),
    earlierMs: (old.earlierMs ?? 0) + takenAt - old.loop.startedAt - heldUntil(old, takenAt),
    segments: 0,
    pausedMs: 0,
    // Passes, and what was used, stay what they were, so what was granted beyond their limits does, too.
    extensions: withoutTime(kept.extensions),
    paused: null,
    stopping: false,
    detached: [],
    questions: [],
    answered: [],
  };
}

function withoutTime({ 'more.timeoutMs': _more, ...extensions }: Position['extensions']): Position['extensions'] {
  return { ...extensions, timeoutMs: 0 };
}

const heldUntil = ({ pausedMs, paused }: Position, at: number): number =>
  pausedMs + (paused === null ? 0 : at - paused.since);

function renewLoop(loop: LoopFrame, takenAt: number, now: number): void {
  loop.startedAt = now;
  delete loop.restsUntil;
  // What was collected belongs to the run that did it.
  delete loop.context;
  renewBlock(loop.block, takenAt, now);
}

function renewBlock(block: BlockFrame, takenAt: number, now: number): void {
  const { step } = block;
  switch (step?.type) {
    case 'condition':
    case 'loop':
    case 'parallel':
      return renewOpen(step, takenAt, now);
    case 'asked':
    // A conversation belongs to the run that had it.
    case 'model':
      delete block.step;
      return;
    case 'awaiting-event':
      block.step = { type: 'awaiting-event', since: now };
      return;
    case 'resting':
    case 'failed':
      block.step = { type: step.type, failure: step.failure };
      return;
    case undefined:
      return;
    default:
      return step satisfies never;
  }
}

function renewOpen(open: OpenFrame, takenAt: number, now: number): void {
  open.startedAt = now;
  if (open.since !== undefined) open.since = now;
  switch (open.type) {
    case 'condition':
      renewBlock(open.block, takenAt, now);
      if (open.cleanUp !== undefined) renewCleanUp(open.cleanUp, takenAt, now);
      return;
    case 'loop':
      return renewLoop(open.loop, takenAt, now);
    case 'parallel':
      for (const branch of open.branches) renewBlock(branch.block, takenAt, now);
      return;
    default:
      return open satisfies never;
  }
}

function renewCleanUp(cleanUp: NonNullable<Position['cleanUp']>, takenAt: number, now: number): void {
  cleanUp.until = now + Math.max(0, cleanUp.until - takenAt);
  renewBlock(cleanUp.block, takenAt, now);
}

/** Sets a variable where the step at `path` would find it: in the innermost open branch that has it, or in the run. */
export function setVariableAt(position: Position, path: string, name: string, value: Json): void {
  const scopes = scopesAround(position.cleanUp?.block ?? position.loop.block, path.split('.').slice(1));
  const scope = scopes.findLast((own) => Object.hasOwn(own, name)) ?? position.own;
  scope[name] = value;
}

/** Variables of the open branches on the way to a step, outermost first. */
function scopesAround(block: BlockFrame, words: readonly string[]): Position['own'][] {
  const open = openIn(block);
  if (open === undefined) return [];
  switch (open.type) {
    case 'condition':
      return scopesAround(open.cleanUp?.block ?? open.block, words.slice(2));
    case 'loop':
      return scopesAround(open.loop.block, words.slice(2));
    case 'parallel': {
      const branch = open.branches[Number(words[2])];
      return branch === undefined ? [] : [branch.own, ...scopesAround(branch.block, words.slice(3))];
    }
    default:
      return open satisfies never;
  }
}
