/**
 * What the workflow asks of activities. Activity types carry the command's own name, `shell`,
 * `emit` or `segment`; the activity id is the step's key and the workflow id names the run, so the
 * inputs hold only what those do not say.
 */
import { PART_SIZE } from '../language/events/event-numbers.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Confinement } from '../language/permissions.ts';
import type { CheckedStep } from './edits.ts';
import type { AgentReport, GroupRequest, RunInput, SegmentReport, Strand } from './host.ts';
import type { Definition, LlmStep } from '../language/model.ts';
import type { Reach } from '../language/rights/reach.ts';
import type { CallPlace, Inheritance, Opening, RunBudget, TurnEffect, TurnOutcome, Place } from './effect.ts';
import type { ModelFrame, Position, Tally } from './position.ts';
import type { EditedStrand } from './edited-paths.ts';

export const SEGMENT = 'segment';
export const SHELL = 'shell';
export const EMIT = 'emit';
/** One turn of a model. */
export const LLM = 'llm';
/** Turns of a model, with the calls that they ask for. */
export const AGENT = 'agent';
/** Waits for a process. */
export const WATCH = 'watch';
/** Reads the next event that a run waits for, or subscribes it; local. */
export const NEXT_EVENT = 'next-event';
/** A run's turn in the group that its definition names; local. */
export const ASK_FOR_GROUP = 'ask-for-group';
/** A run's turn among those of its persona that are at work, and giving up what it has there; local. */
export const ASK_FOR_PLACE = 'ask-for-place';
export const LEAVE_PLACE = 'leave-place';
/** Until when the persona of a run has used what it may use in a day; and that nobody waits for it any more; local. */
export const ASK_FOR_DAY = 'ask-for-day';
export const LEAVE_DAY = 'leave-day';
/** SHA-256 of a text; holding an answer's data against its form. Local activities: workflow code has neither. */
export const DIGEST = 'digest';
export const CHECK_FORM = 'check-form';
/** Holds an edit against the reader; local. */
export const CHECK_EDIT = 'check-edit';
/** Whether segments were committed that the run does not know of: a worker that was lost did them. */
export const IS_BEHIND = 'is-behind';

/** The workspace of a nested run, at its beginning; those of the run that a fork goes on from; what a run did in its own, at its end. */
export const WORKSPACE_FORK = 'workspace-fork';
export const WORKSPACES_TAKEN = 'workspaces-taken';
export const WORKSPACE_END = 'workspace-end';

/** Reads a definition that a step took from a variable; local. */
export const READ_DEFINITION = 'read-definition';

/** Reads what a command that needs approval would start; local. */
export const READ_STARTED = 'read-started';

/** Finds out what a command that needs approval would do; local. */
export const RESOLVE_ACTION = 'resolve-action';

/** What the edit brings, or what is wrong with the definition that it would make. */
export type EditCheck = CheckedStep | { problems: string[] };

/** `since`: when the run was started, by the server's clock: of those who wait, the first to be started is the first. */
export interface GroupAsked extends GroupRequest {
  since: number;
}

/** `seq`: what the run has recorded so far. */
export interface PlaceAsked {
  seq: number;
}

/** `until`: in milliseconds since the epoch. Null: it has some left. */
export type DayAnswer = { until: number; why: string } | null;

/** Numbers of events a segment may use. */
export const SEGMENT_EVENTS_MAX = PART_SIZE;
export const SEGMENT_MS = 250;

/** Added to a step's own timeout, so that the step, not the server, notices it first. */
export const TIMEOUT_MARGIN_MS = 120_000;

/** What every segment is given of its run. */
export interface HandedOver {
  strand: Pick<Strand, 'path' | 'passes' | 'frame' | 'own' | 'outer' | 'shield'>;
  /** Key of the step, or the turn, that it begins with: its journal key. */
  key: string;
  /** Its events have the numbers after it. */
  seq: number;
  /** How many places there are for them, one after the other. */
  places: number;
  pausedMs: number;
  extensions: Position['extensions'];
  /** What of the run's budget the segment may use. */
  budget?: RunBudget;
  /** Of a definition that was edited. */
  edited?: EditedStrand;
}

export interface SegmentRequest extends HandedOver {
  stepsMax: number;
  tally: Tally | null;
  /** Journal keys of segments that history already holds. */
  forget: string[];
}

/** What an agent segment is asked: a model step at the beginning of a turn, and what its walk needs to know. */
export interface AgentRequest extends HandedOver {
  step: LlmStep;
  place: Place;
  open: ModelFrame;
  /** Milliseconds that the steps around it have left. */
  leftMs?: number;
}

export interface SegmentResult extends SegmentReport {
  /** How many commits it made, where there was more than one. */
  commits?: number;
  durationMs: number;
}

export interface ShellRequest {
  command: string;
  args?: string[];
  cwd?: string;
  env?: { [name: string]: string };
  files?: { [name: string]: string };
  stdin?: string;
  /** Where a process was started and nobody knows how it ended, none is started again: it fails with `SHELL_OUTCOME_UNKNOWN`. */
  onUnknown?: 'tell';
  /** How often it may have been begun before: its process is looked for. */
  begun?: number;
  /** Its line was cancelled before anybody went on with it: it is ended. */
  isCancelled?: true;
}

/** Present only for steps that have something to say here. */
export interface StepOptions {
  /** How the step's processes are held in. */
  confinement?: Confinement;
  /** Environment variables that the run may read: tokens, or values of those that are no secrets. */
  secrets?: { [name: string]: string };
  /** Of a command that starts a run: what that run inherits, and what names in its definition mean. */
  starts?: Inheritance & { library?: { [name: string]: Definition } };
  reach?: Reach;
  /** Of a command that was approved: what it was shown to do, and does or fails. */
  resolved?: Json;
  /** A model called the command: its result goes to that conversation, and word of it comes back. */
  call?: CallPlace;
}

export type TurnRequest = Pick<
  TurnEffect,
  'conversation' | 'turn' | 'model' | 'say' | 'answers' | 'tools' | 'highlighted' | 'settings' | 'compaction'
> & {
  /** Tokens of the turns before it. */
  tokensBefore?: number;
  /** With the first turn. */
  opening?: Opening;
  /** Prompts of ours that it is asked with, by name, with their versions. */
  prompts?: { [name: string]: number };
};

/** What a run waits for; the rest the activity knows. */
export interface EventRequest {
  glob: string;
  /** Also the event that started the run, which is older than the run. */
  withCause: boolean;
  /** What the run has consumed: every event that matches a glob, up to a position. */
  consumed: { [glob: string]: number };
  /** Also every event from before the run began. */
  withEarlier?: true;
}

export interface Activities {
  [SEGMENT](input: RunInput, request: SegmentRequest): Promise<SegmentResult>;
  [SHELL](request: ShellRequest, options?: StepOptions): Promise<Json>;
  [EMIT](request: { event: string; data: Json }, options?: StepOptions): Promise<Json>;
  [LLM](request: TurnRequest, options?: StepOptions): Promise<TurnOutcome>;
  [AGENT](input: RunInput, request: AgentRequest): Promise<AgentReport>;
  [command: string]: (...args: never[]) => Promise<Json | SegmentResult | TurnOutcome | AgentReport>;
}

export type CommandActivity = (params: JsonObject, options?: StepOptions) => Promise<Json>;
