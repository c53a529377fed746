/**
 * What happens in a run, as one union: the database, the log line, the trace, the query and the
 * tests all speak it. `seq` orders the events of a run (gaps are allowed: a segment reserves a
 * block of numbers); `key` is the step's key, empty for events of the run itself.
 */
import type { FailureInfo } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Step, StepType } from '../model.ts';
import type { Answer, Approval, Priority, Question, QuestionKind } from './question.ts';

export type RunStatus = 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

/** How a run ended: by itself, by a failure, by a limit or a stop, or by cancellation. */
export type RunOutcome = 'completed' | 'failed' | 'stopped' | 'cancelled';

/** `retried`: it failed, and another attempt follows under a key of its own. */
export type StepOutcome = 'ok' | 'failed' | 'retried' | 'skipped' | 'cancelled';

interface Stamp {
  seq: number;
  /** Milliseconds since the epoch, by the run's own clock. */
  at: number;
  key: string;
}

export interface RunStarted extends Stamp {
  type: 'run-started';
  name: string;
  definitionHash: string;
  project: string;
  persona: string;
  parent: string | null;
  inputs: JsonObject;
  origin?: RunOrigin;
  /** Its definition is a model's, and not what a person saved under its name. */
  isBrought?: true;
}

/**
 * What started a run that nobody started by hand (a schedule, or an event that a trigger matched), which run it forks
 * and from which step on, or the version of the saved definition that was started by its name.
 */
export type RunOrigin =
  | { type: 'schedule'; schedule: string }
  | { type: 'event'; trigger: string; event: string; seq: number }
  | { type: 'fork'; of: string; at: string; items?: ItemsAgain[] }
  | SavedOrigin;

/** What of a list is performed again, and how many results are those of the run that is forked. */
export interface ItemsAgain {
  /** Key of its step. */
  at: string;
  /** The items, counted from 0; the first hundred. */
  items: number[];
  performed: number;
  kept: number;
}

export interface SavedOrigin {
  type: 'saved';
  version: number;
  id: string;
}

export interface StepStarted extends Stamp {
  type: 'step-started';
  step: StepType;
  /** What a person reads: the step's name, else what it does (`npm test`, `code/read`). */
  label: string;
}

export interface StepFinished extends Stamp {
  type: 'step-finished';
  step: StepType;
  label: string;
  outcome: StepOutcome;
  durationMs: number;
  /** At most 200 characters of the value. */
  preview?: string;
  failure?: FailureInfo;
  /** What it was to do, as the definition says it; present where it failed. */
  action?: string;
  /** Present where it cost something; of a nested run, all that the run cost. */
  usage?: StepUsage;
  /** Of a step over a list. */
  items?: ItemsEnd;
}

/** What became of the items of a list. */
export interface ItemsEnd {
  count: number;
  failed: number;
  /** Which ones failed, from 0 on; the first hundred. */
  failedAt?: number[];
  /** Results that are those of the run that this one goes on from; the others were performed. */
  retraced?: number;
}

/** What a step cost: tokens, and money in dollars. */
export interface StepUsage {
  tokens: number;
  usd: number;
  /** Some of the tokens have a price that nobody knows, and are not in `usd`. */
  isUnpriced?: true;
}

/** One pass of the run's own loop ended (inner loops show theirs in the keys of their steps). */
export interface PassFinished extends Stamp {
  type: 'pass-finished';
  pass: number;
}

export interface Warning extends Stamp {
  type: 'warning';
  code: string;
  message: string;
  /** Until when the step waits, in milliseconds since the epoch, where it is said that it does. */
  until?: number;
  /** And for whom. */
  waitsFor?: string;
}

/** Before the turn of its key, what a model is shown of a conversation became shorter. Tokens are estimated where nobody counted them. */
export interface CompactedEvent extends Stamp {
  type: 'compacted';
  /** `results`: results of calls were left out, and that was enough. */
  strategy: 'results' | 'summarize' | 'truncate';
  /** `overflow`: the model had said that the conversation is too long. */
  because: 'full' | 'overflow';
  before: number;
  after: number;
  /** Of the model; null where nobody says. */
  window: number | null;
}

export interface Paused extends Stamp {
  type: 'paused';
  reason: string;
}

export interface Resumed extends Stamp {
  type: 'resumed';
  /** Questions that are still open: with any, the run goes on being `paused`. */
  open?: number;
}

/** The run asks its persona something and waits. */
export interface Asked extends Stamp {
  type: 'asked';
  question: Question;
}

/** A question ended; `open` counts those that are left, `held` says that the run is paused besides. */
interface QuestionEnd extends Stamp {
  id: string;
  open: number;
  held: boolean;
}

export interface Answered extends QuestionEnd {
  type: 'answered';
  answer: Answer;
}

/** One of several who are asked has approved, and the question stays open: `missing` more have to. */
export interface Approved extends Stamp {
  type: 'approved';
  id: string;
  /** All so far. */
  approvals: Approval[];
  missing: number;
}

/** A question is still open, and whoever is asked is told so again. */
export interface Reminded extends Stamp {
  type: 'reminded';
  id: string;
  /** With the approvals and the reminders that it has by now, this one included. */
  question: Question;
}

export interface Expired extends QuestionEnd {
  type: 'expired';
}

/** Nobody needs the answer any more: the run was stopped or cancelled, or asks about something else. */
export interface Withdrawn extends QuestionEnd {
  type: 'withdrawn';
}

/** The persona is told something, and nothing waits. */
export interface Notified extends Stamp {
  type: 'notified';
  condition: QuestionKind;
  priority: Priority;
  assignee: string;
  message: string;
}

/** The steps of the run were changed while it ran. */
export interface Edited extends Stamp {
  type: 'edited';
  op: 'add' | 'update' | 'remove' | 'skip';
  /** The place in the definition as it was. */
  path: string;
  /** The revision that the edit made. */
  revision: number;
  by: string;
  note?: string;
  before: Step | null;
  after: Step | null;
  /** When it is first seen: in the pass under way, or from the next one. */
  from: 'now' | 'next-pass';
}

/** Somebody told a model something: a message of the user before the next turn of the step. */
export interface Told extends Stamp {
  type: 'told';
  id: string;
  text: string;
  by: string;
}

/** A turn begins with what somebody told its model. */
export interface Heard extends Stamp {
  type: 'heard';
  id: string;
  by: string;
  /** Null: the step ended before a turn could have it. */
  turn: number | null;
}

/** What became of the run when it asked for the group that its definition names, or for a place of its persona. */
export interface Grouped extends Stamp {
  type: 'group';
  /** Of a place, the persona. */
  group: string;
  of?: 'persona';
  state: 'taken' | 'waiting' | 'skipped';
  /** The run that has the group, or is to have it next. */
  holder?: string;
  /** How many runs are before this one. */
  ahead?: number;
  /** Those of them that it told to end. */
  cancels?: string[];
}

export interface RunFinished extends Stamp {
  type: 'run-finished';
  status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>;
  outcome: RunOutcome;
  /** The limit that stopped the run: `maxIterations`, `timeoutMs`, `concurrency` where another run had its group, or `stop` when a person did. */
  limit?: string;
  failure?: FailureInfo;
  iterations: number;
  durationMs: number;
  outputs: { [name: string]: Json };
  /** Whom the end is reported to, where it is. */
  notify?: Pick<Notified, 'condition' | 'priority' | 'assignee'>;
  /** Up to where the run had consumed the events it waited for, by pattern. */
  consumed?: { [pattern: string]: number };
  /** As its start says. */
  isBrought?: true;
}

export type RunEvent =
  | RunStarted
  | StepStarted
  | StepFinished
  | PassFinished
  | Warning
  | CompactedEvent
  | Paused
  | Resumed
  | Asked
  | Answered
  | Approved
  | Reminded
  | Expired
  | Withdrawn
  | Notified
  | Edited
  | Told
  | Heard
  | Grouped
  | RunFinished;

export type RunEventType = RunEvent['type'];

/** Numbers of events from here on are given from outside, to a run that can give none any more. */
export const outsideSeq = 9_000_000_000_000_000;
