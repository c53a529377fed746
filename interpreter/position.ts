/**
 * Where a run stands, as one serialisable value. There is no second way to resume: continue-as-new,
 * segments, forks and edits all hand this value to a fresh walk.
 *
 * A frame says how far one block of steps has come. `at` names the step to run next, or, with
 * `open`, the composite step that is under way. An action step is never open: its effect either has
 * happened, and `at` is past it, or has not.
 */
import type { FailureInfo } from '../language/failure.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import type { Question, Settled } from '../language/events/question.ts';
import type { Effect, Flow } from './host.ts';

/** From the first release on, raised when the shape changes; `readPosition` then reads the version before as well. */
export const POSITION_VERSION = 1;

export type Variables = { [name: string]: Json };

export interface BlockFrame {
  at: number;
  /** How the keys of the step under way call it, where that is not `at` (edited-paths.ts). */
  keySegment?: string;
  open?: OpenFrame;
  /** Attempt of the step at `at`, from the second on; each has keys of its own (keys.ts). */
  attempt?: number;
  /** When the attempt began, for a step that holds others within a time by the run's clock. */
  since?: number;
  /** How long the run had been held when the step began to wait for an event. */
  held?: number;
  /** What the attempt failed with, while nobody has decided what becomes of it. */
  failure?: FailureInfo;
  /** When the pause before the next attempt ends, once the run has continued as new in it. */
  restsUntil?: number;
  /** The step as it was when its question was asked, and the action that the answer holds for. */
  asked?: { step: Step; effect?: Effect };
  /** What a persona changed of the step's action. */
  edit?: JsonObject;
}

/** Steps that run once something has ended, however it ended. */
export interface CleanUpFrame {
  /** The end that was cleaned up after, and that stands unless it was a good one and the clean-up fails. */
  end: Flow;
  block: BlockFrame;
  /** The clean-up must have ended by then. */
  until: number;
}

export interface LoopFrame {
  /** The pass under way, or the last one when `between`; 0 before the first. */
  pass: number;
  between: boolean;
  /** The pause before the next pass has been taken. */
  rested: boolean;
  /** When it ends, once the run has continued as new in it. */
  restsUntil?: number;
  /** By the run's clock, which stands still while it is held. */
  startedAt: number;
  /** Passes allowed by `max`, read once when the loop starts. */
  max: number | null;
  block: BlockFrame;
}

export interface BranchFrame {
  status: 'waiting' | 'open' | 'done' | 'failed' | 'cancelled';
  /** What the branch has set; merged into the enclosing scope, in branch order, at the end. */
  own: Variables;
  block: BlockFrame;
  failure?: FailureInfo;
}

export type OpenFrame =
  | { type: 'condition'; branch: 'then' | 'else'; block: BlockFrame; startedAt: number; cleanUp?: CleanUpFrame }
  | { type: 'loop'; loop: LoopFrame; startedAt: number }
  | { type: 'parallel'; branches: BranchFrame[]; startedAt: number };

/** Verdicts over the passes of the run's own loop, kept for the parent of a nested run. */
export interface Tally {
  failureCount: number;
  /** Sums and counts of numeric outputs, by name. */
  numbers: { [name: string]: { sum: number; count: number } };
  /** Named outputs of the latest passes, oldest first (resultsKeptMax). */
  results: Variables[];
  /** Names set in the pass under way. */
  touched: string[];
  lastPassed: boolean;
}

/** What was used of a budget. */
export interface Usage {
  steps: number;
  tokens: number;
  usd: number;
}

export interface Position {
  version: typeof POSITION_VERSION;
  loop: LoopFrame;
  /** Every variable the run has set. */
  own: Variables;
  tally: Tally;
  /** Last number given to an event. */
  seq: number;
  /** Steps performed so far. */
  steps: number;
  /** What was used besides `steps`: by nested runs, and tokens and money of its own calls. */
  spent?: Usage;
  /** Number of the last word (pause, resume, stop) said to nested runs; they may arrive in any order. */
  saidToNested?: number;
  /** Number of the latest word heard from the run that started this one; an earlier one comes too late. */
  heardFromParent?: number;
  /** Time that its budget bounds and that had gone before it began, in the run it was forked from. */
  earlierMs?: number;
  /** Segments started so far. */
  segments: number;
  /** Time spent paused: it counts against no limit. */
  pausedMs: number;
  /** How often each limit has been extended, and by how much `more` or less than it was, where that was said. */
  extensions: {
    maxIterations: number;
    timeoutMs: number;
    [limit: `budget.${string}`]: number;
    [granted: `more.${string}`]: number;
  };
  /** Why the run is held, if it is. */
  paused: { reason: string; since: number } | null;
  stopping: boolean;
  /** Nested runs that nobody waits for; a stop or a cancellation still reaches them. */
  detached: string[];
  /** What the run asks its persona and waits for. */
  questions: Question[];
  /** The latest answers (answersKeptMax), so that a second one is told the first. */
  answered: Settled[];
  /** Events the run has taken: of those that match a pattern, all up to a position. */
  consumed?: { [pattern: string]: number };
  /** By execution: the line up to which watches for errors and matches have told. */
  watched?: { [executionId: string]: number };
  /** Edits of its definition that the run has taken. */
  revision?: number;
  /** Paths of steps that are skipped the next time they are reached. */
  skips?: string[];
  /** Present once the run's own steps have ended and its clean-up has begun. */
  cleanUp?: CleanUpFrame;
}

export function firstLoopFrame(startedAt: number): LoopFrame {
  return { pass: 0, between: true, rested: false, startedAt, max: null, block: { at: 0 } };
}

export function firstPosition(startedAt: number): Position {
  return {
    version: POSITION_VERSION,
    loop: firstLoopFrame(startedAt),
    own: {},
    tally: { failureCount: 0, numbers: {}, results: [], touched: [], lastPassed: true },
    seq: 0,
    steps: 0,
    segments: 0,
    pausedMs: 0,
    extensions: { maxIterations: 0, timeoutMs: 0 },
    paused: null,
    stopping: false,
    detached: [],
    questions: [],
    answered: [],
  };
}

/** A position that a run carried into its next history. */
export function readPosition(carried: Position): Position {
  if (carried.version !== POSITION_VERSION)
    throw new Error(`bug: no reader for positions of version ${String(carried.version)}`);
  return carried;
}
