/**
 * From where one run stood to where another begins.
 *
 * What was done stays: variables, passes, what the passes came to, the events it has taken, and what
 * was used of the budget. What belongs to the old run itself goes: numbers of events, questions and
 * answers, holds, the runs it started. Other times than the budget's begin anew, so that nothing is
 * late at once.
 */
import { usageOf } from '../../interpreter/budget.ts';
import { type Json, throughJson } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { costSoFar } from '../../interpreter/models/model-turn.ts';
import {
  openIn,
  type BlockFrame,
  type LoopFrame,
  type ModelFrame,
  type OpenFrame,
  type Position,
} from '../../interpreter/position.ts';

interface Times {
  /** When the old run stood there, by its clock. */
  takenAt: number;
  /** When the new one begins. */
  now: number;
  /** Key of a model step that begins with its first turn, although the old run came to it in the middle. */
  anew?: string;
}

export function freshPosition(old: Position, times: Times): Position {
  const { takenAt } = times;
  // The new run takes places and waits for days of its own, and messages are sent to it anew.
  const {
    cleanUp,
    group: _group,
    place: _place,
    still: _still,
    toldAround: _told,
    taken: _taken,
    ...kept
  } = throughJson(old);
  renewLoop(kept.loop, times);
  if (cleanUp !== undefined) renewCleanUp(cleanUp, times);
  return {
    ...kept,
    ...defined({ cleanUp }),
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

function heldUntil({ pausedMs, paused, place, still }: Position, at: number): number {
  if (place?.since !== undefined) return (place.held ?? 0) + at - place.since;
  if (still !== undefined) return still.held + at - still.since;
  return pausedMs + (paused === null ? 0 : at - paused.since);
}

function renewLoop(loop: LoopFrame, times: Times): void {
  loop.startedAt = times.now;
  delete loop.restsUntil;
  // What was collected belongs to the run that did it.
  delete loop.context;
  renewBlock(loop.block, times);
}

function renewBlock(block: BlockFrame, times: Times): void {
  const { step } = block;
  switch (step?.type) {
    case 'condition':
    case 'loop':
    case 'parallel':
      return renewOpen(step, times);
    case 'asked':
    case 'sleeping':
    case 'joining':
    case 'acting':
      delete block.step;
      return;
    case 'model':
      return renewModel(block, step, times);
    case 'awaiting-event':
      block.step = { type: 'awaiting-event', since: times.now };
      return;
    case 'resting':
      block.step = { type: 'resting', failure: step.failure };
      return;
    case 'failed':
      block.step = { type: 'failed', failure: step.failure };
      if (step.doubt !== undefined) block.step.doubt = { ...step.doubt, block: { at: 0 }, startedAt: times.now };
      return;
    case undefined:
      return;
    default:
      return step satisfies never;
  }
}

/** The run goes on with the conversation; what it has no answer to yet it asks anew. */
function renewModel(block: BlockFrame, step: ModelFrame, { now, anew }: Times): void {
  if (step.key === anew || (step.turn === 1 && step.calls === undefined)) {
    delete block.step;
    return;
  }
  for (const call of step.calls ?? []) if (call.block.at === 0) call.block = { at: 0 };
  const { restsUntil: _restsUntil, held: _held, ...kept } = step;
  block.step = { ...kept, startedAt: now, since: now, waits: 0, earlier: costSoFar(step) };
}

function renewOpen(open: OpenFrame, times: Times): void {
  open.startedAt = times.now;
  if (open.since !== undefined) open.since = times.now;
  switch (open.type) {
    case 'condition':
      renewBlock(open.block, times);
      if (open.cleanUp !== undefined) renewCleanUp(open.cleanUp, times);
      return;
    case 'loop':
      return renewLoop(open.loop, times);
    case 'parallel':
      for (const branch of open.branches) renewBlock(branch.block, times);
      return;
    default:
      return open satisfies never;
  }
}

function renewCleanUp(cleanUp: NonNullable<Position['cleanUp']>, times: Times): void {
  cleanUp.until = times.now + Math.max(0, cleanUp.until - times.takenAt);
  renewBlock(cleanUp.block, times);
}

/** Where a step stands, as its key says it: `passes` of the loops around it, the run's own first. */
export interface KeyPlace {
  path: string;
  passes: readonly number[];
}

/** Sets a variable where the step at `path` would find it: in the innermost open branch that has it, or in the run. */
export function setVariableAt(position: Position, { path, passes }: KeyPlace, name: string, value: Json): void {
  const inside = passes.slice(1);
  const scopes = scopesAround(position.cleanUp?.block ?? position.loop.block, path.split('.').slice(1), inside);
  const scope = scopes.findLast((own) => Object.hasOwn(own, name)) ?? position.own;
  scope[name] = value;
}

/** Variables of the open branches on the way to a step, outermost first. */
function scopesAround(block: BlockFrame, words: readonly string[], passes: readonly number[]): Position['own'][] {
  const open = openIn(block);
  if (open === undefined) return [];
  switch (open.type) {
    case 'condition':
      return scopesAround(open.cleanUp?.block ?? open.block, words.slice(2), passes);
    case 'loop':
      return scopesAround(open.loop.block, words.slice(2), passes.slice(1));
    case 'parallel': {
      const isItem = open.items !== undefined;
      const branch = isItem ? open.branches.find(({ item }) => item === passes[0]) : open.branches[Number(words[2])];
      if (branch === undefined) return [];
      return [
        branch.own,
        ...scopesAround(branch.block, words.slice(isItem ? 2 : 3), isItem ? passes.slice(1) : passes),
      ];
    }
    default:
      return open satisfies never;
  }
}
