/**
 * Where a run stands, as one serialisable value. There is no second way to resume: continue-as-new,
 * segments, forks and edits all hand this value to a fresh walk.
 *
 * A frame says how far one block of steps has come. `at` names the step to run next, and `step` says
 * what is under way there. The effect of an action step either has happened, and `at` is past it, or has not.
 */
import type { FailureInfo } from '../language/failure.ts';
import type { JsonObject } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import type { TokenUsage } from '../language/models/token-usage.ts';
import type { Question, Settled } from '../language/events/question.ts';
import type { CallAnswer, CompactionPlace, Effect, Flow, GroupPlace, WithOthers } from './effect.ts';
import type { Said, TurnCall, TurnOutcome, Usage, Variables } from './effect.ts';
import type { Hold } from './holds.ts';
import type { ItemsFrame } from './items-frame.ts';
import type { CallMark } from './stuck.ts';

/** From the first release on, raised when the shape changes; `readPosition` then reads the version before as well. */
export const POSITION_VERSION = 1;

export interface BlockFrame {
  at: number;
  /** How the keys of the step under way call it, where that is not `at` (edited-paths.ts). */
  keySegment?: string;
  /** Attempt of the step at `at`, from the second on; each has keys of its own (keys.ts). */
  attempt?: number;
  /** As many of these were no attempts: a rate limit held the step back, or it was decided that it is run again. */
  waits?: number;
  /** How often it was decided that the step at `at` is run again, though it may have been done. */
  repeats?: number;
  /** What a persona changed of the step's action. */
  edit?: JsonObject;
  /** What is under way at the step; absent until it has begun something that outlasts one turn of the walk. */
  step?: StepFrame;
}

/** One case for each thing that can be under way at a step; a further one has to be dealt with wherever a switch over them is closed by `never`. */
export type StepFrame =
  | OpenFrame
  | AskedFrame
  | AwaitingEventFrame
  | SleepingFrame
  | JoiningFrame
  | RestingFrame
  | FailedFrame
  | ModelFrame
  | ActingFrame;

/** The action of the step was let through and claimed, and may have begun. */
export interface ActingFrame {
  type: 'acting';
  startedAt: number;
  effect: Effect;
  /** How often it may have been begun. */
  begun: number;
}

/** The step asks a persona, or has the answer: its question, and with it what the answer holds for, stays until the step ends. */
export interface AskedFrame {
  type: 'asked';
  /** The step as it was when it asked. */
  about: Step;
  /** The action that the answer holds for; absent for an approval step, which has none. */
  effect?: Effect;
  /** When an approval step began. */
  since?: number;
}

export interface AwaitingEventFrame {
  type: 'awaiting-event';
  since: number;
  /** How long the run had been held when the step began to wait. */
  held?: number;
}

export interface SleepingFrame {
  type: 'sleeping';
  since: number;
  until: number;
  /** How long the run had been held when it began; absent where it sleeps until a time, which being held does not move. */
  held?: number;
}

/** A step waits for the ends of other runs, one after the other. */
export interface JoiningFrame {
  type: 'joining';
  since: number;
  held: number;
  handles: string[];
  /** What became of those that are known to have ended: the first of the handles. */
  ended: JsonObject[];
  /** Of the run that is waited for now, the event up to which it had not ended. */
  seen?: number;
}

/** A model step between its first turn and its last: the conversation is rows, under the step's key. */
export interface ModelFrame {
  type: 'model';
  /** Of the step: the conversation's name. */
  key: string;
  startedAt: number;
  /** By the run's clock, which stands still while it is held: what its time counts from. */
  since: number;
  /** The turn to take next, or, with `calls`, the one whose calls are under way. */
  turn: number;
  /** How often in a row the turn could not be taken and is waited for. */
  waits: number;
  /** When the wait ends, once the run has continued as new in it. */
  restsUntil?: number;
  /** The persona has used what it may use in a day. */
  awaitsDay?: true;
  /** Why the turn cannot be taken, while the persona is asked about it, and since when by the run's clock. */
  held?: { failure: FailureInfo; since: number };
  /** Since when the persona is asked whether it may be asked at all, by the run's clock; and what the answer lets it. */
  asking?: number;
  approved?: string;
  /** What the turn calls, and how far each call is. */
  calls?: CallFrame[];
  /** What the next turn is told besides. */
  say: Said[];
  answers: CallAnswer[];
  /** Turns in a row with a call that the model got wrong. */
  mistakes: number;
  /** The turn under way has one. */
  isMistaken?: true;
  /** The latest calls that were made (callsKeptMax). */
  made: MadeCall[];
  repairs: number;
  /** The latest one: what the next turn is asked with. */
  compaction?: CompactionPlace;
  /** Whether the model turns in circles. */
  stuck?: StuckFrame;
  /** What the latest turn said and who answered, where the step's `stopWhen` may end on it. */
  last?: { text: string; model: string; reason?: string };
  /** From this turn on the model is to answer, and to call nothing. */
  finalFrom?: number;
  /** Turns in which the model was asked to check its answer, and the answer that stands if it finds nothing. */
  checks?: number;
  candidate?: TurnOutcome;
  /** Tokens whose price nobody knows are among what was used. */
  isUnpriced?: true;
  /** It was said that a provider's count of tokens is none. */
  isMiscounted?: true;
  /** Of all turns so far. */
  usage: TokenUsage;
  usd: number;
  /** What of this was used, and is counted, in the run that this one was forked from. */
  earlier?: { tokens: number; usd: number };
}

/** A message of the user for the model step `key`, before its next turn. */
export interface Telling {
  id: string;
  key: string;
  text: string;
  by: string;
}

export interface StuckFrame {
  /** The latest calls (marksMax), oldest first. */
  marks: CallMark[];
  /** The last turn that may have changed the project, or that is to be counted from. */
  changedIn: number;
  /** How often it was found. */
  times: number;
  /** What a persona is asked about, and since when by the run's clock. */
  open?: { finding: string; since: number };
}

export interface MadeCall {
  name: string;
  /** Absent where it is long. */
  input?: JsonObject;
  ok: boolean;
}

export interface CallFrame extends TurnCall {
  /** Past it when the call has ended; holds the question about it. */
  block: BlockFrame;
  /** How often it was begun, from the second time on. */
  tries?: number;
  /** Its worker was lost, and nobody has decided what becomes of it. `again`: why it is made again, once that is decided. */
  doubt?: Doubt & { again?: string };
  /** Whether it came to a result, once it has ended. */
  ok?: boolean;
  /** What it is compared with others by, once it has ended. */
  mark?: CallMark;
}

/** Something was begun, and nobody saw its end. */
export interface Doubt {
  failure: FailureInfo;
  /** What was begun, as it was approved and edited. */
  action: JsonObject;
  /** Of the command that is asked whether it was done. */
  block: BlockFrame;
}

/** The pause before the next attempt. */
export interface RestingFrame {
  type: 'resting';
  failure: FailureInfo;
  /** When it ends, once the run has continued as new in it. */
  restsUntil?: number;
  failedIn?: OpenFrame | AskedFrame;
}

/** The attempt failed, and nobody has decided what becomes of it. */
export interface FailedFrame {
  type: 'failed';
  failure: FailureInfo;
  /** Nobody knows whether it was done, and its end is not recorded before that is decided. */
  doubt?: Doubt & { startedAt: number };
  /** Where the step stood: steps inside it that ran are past, and an approved action is the one that failed. */
  failedIn?: OpenFrame | AskedFrame;
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
  /** Of the run's own loop: what is collected for a pass before its steps begin (pass-context.ts). */
  context?: { pass: number; block: BlockFrame };
}

export interface BranchFrame {
  status: 'waiting' | 'open' | 'done' | 'failed' | 'cancelled';
  /** What the branch has set; merged into the enclosing scope, in branch order, at the end. */
  own: Variables;
  block: BlockFrame;
  failure?: FailureInfo;
  /** Of a list: which item it goes through, from 1 on. */
  item?: number;
}

/** A step that holds others. `left`: how often its branches were left open, and whether they had moved on the last time. */
export type OpenFrame = { startedAt: number; since?: number } & (
  | { type: 'condition'; branch: 'then' | 'else'; block: BlockFrame; cleanUp?: CleanUpFrame }
  | { type: 'loop'; loop: LoopFrame }
  | { type: 'parallel'; branches: BranchFrame[]; items?: ItemsFrame; left?: { times: number; moved: boolean } }
);

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

export interface Position extends WithOthers {
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
  /** Why the run is held, and by whom, if it is. */
  paused: Hold | null;
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
  /** What people told models and no turn has had yet, oldest first. */
  told?: Telling[];
  /** The latest of these, said to a turn or not (tellsKeptMax), so that none is taken twice. */
  heard?: Pick<Telling, 'id' | 'key'>[];
  /** The latest messages that were sent to the run, so that none is taken twice; older ones are not taken at all. */
  taken?: { until: number; latest: { id: string; at: number }[] };
  /** Paths of steps that are skipped the next time they are reached. */
  skips?: string[];
  /** From when it first asked for its group. */
  group?: GroupPlace;
  /** Present once the run's own steps have ended and its clean-up has begun. */
  cleanUp?: CleanUpFrame;
}

/** What is open at the step that a frame is at, or was when an attempt failed; undefined where the step holds no others. */
export function openIn({ step }: BlockFrame): OpenFrame | undefined {
  switch (step?.type) {
    case 'condition':
    case 'loop':
    case 'parallel':
      return step;
    case 'resting':
    case 'failed':
      return step.failedIn?.type === 'asked' ? undefined : step.failedIn;
    case 'asked':
    case 'awaiting-event':
    case 'sleeping':
    case 'joining':
    case 'model':
    case 'acting':
    case undefined:
      return undefined;
    default:
      return step satisfies never;
  }
}

/** The question about the step's action, open, answered, or of the attempt that failed. */
export function askedIn({ step }: BlockFrame): AskedFrame | undefined {
  const frame = step?.type === 'resting' || step?.type === 'failed' ? step.failedIn : step;
  return frame?.type === 'asked' ? frame : undefined;
}

/** Forgets the step that a frame was at: what comes next at `at` has not begun. */
export function leaveStep(frame: BlockFrame): void {
  delete frame.keySegment;
  delete frame.attempt;
  delete frame.waits;
  delete frame.repeats;
  delete frame.edit;
  delete frame.step;
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
