/**
 * The port: everything the walk wants from the world. The Temporal host answers with activities,
 * timers and child workflows; the segment host with commands run at once; the scripted host of the
 * tests from a file. Nothing here may be answered from the clock or at random by the walk itself.
 */
import type { Catalogue } from '../language/catalogue.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { Json } from '../language/json.ts';
import type { Concurrency, Definition, LlmStep, Step } from '../language/model.ts';
import type { GivenDefinition, ReadDefinition } from '../language/read/nested-definition.ts';
import type { Handed, StartedProgram } from '../language/read/started-program.ts';
import type { PublishedEvent } from '../language/events/published-event.ts';
import type { Question } from '../language/events/question.ts';
import type { RunEvent } from '../language/events/run-event.ts';
import type { Verdict, Allowed } from './verdict.ts';
import { withoutListResults } from './list-portions.ts';
import type { BlockFrame, LoopFrame, ModelFrame, Tally } from './position.ts';
import type {
  CommandEffect,
  GoesOn,
  Reply,
  RunBudget,
  RunLimits,
  Flow,
  Variables,
  Usage,
  Halt,
  Place,
} from './effect.ts';

/** What never changes while a run lasts. */
export interface RunInput {
  handle: string;
  definition: Definition;
  /** Definitions that `$ref`s in this one resolve to, by name; part of the run from its start. */
  library: { [name: string]: Definition };
  /** The commands that these definitions name, and those that edits brought: the run can perform no other. */
  catalogue: Catalogue;
  definitionHash: string;
  project: string;
  /** The folder that its steps work in, where that is not the project (workspace.ts). */
  root?: string;
  /** It begins with a workspace of its own, forked from `root`, and named after this. */
  forks?: string;
  persona: string;
  /** Inputs, and for a nested run the parent's variables. */
  base: Variables;
  /** Names that runs around a nested one set somewhere, that its command lines read, and that have no value there. */
  unset?: string[];
  limits: RunLimits;
  /** 1 for a run of its own, one more for each nesting. */
  depth: number;
  parent: string | null;
  /** The run around it waits for its end, and stands still with it (stillness.ts). */
  awaited?: true;
  startedAt: number;
  /** Values of the environment variables that the definitions list, read when the run was started. */
  env?: { [name: string]: string };
  /** Continue as new after this many steps, besides when history grows long. */
  continueEvery?: number;
  /** What of the ledger the run began with (changes.ts); none where it is absent. */
  level?: number;
  /** It takes one of the places of its persona while it is at work (places.ts). */
  places?: true;
}

/**
 * A line of execution: the run itself, or one branch of a parallel step. Only its own line moves a
 * frame, so a strand can be handed to a segment while its siblings go on.
 */
export interface Strand {
  /** Path of the block of steps: empty for the run itself, else e.g. `steps.2.branches.0`. */
  path: string;
  /** Passes of the loops around it, outermost first. */
  passes: number[];
  frame: { loop: LoopFrame } | { block: BlockFrame };
  own: Variables;
  /** Scopes outside this strand, nearest first; fixed while the strand runs. */
  outer: Variables[];
  cancelled: boolean;
  /** The strand it branched off; cancelling that cancels this. */
  within: Strand | null;
  /** A step around it tries again or skips what fails here, so nobody is asked about it. */
  forgiven?: boolean;
  /** What is left of the time that a step around it has; nothing inside it outlasts that. */
  leftMs?: () => number;
  /** A clean-up: no stop, cancellation or limit of the run reaches it, but it ends by `until`. */
  shield?: { until: number };
}

export function isCancelled(strand: Strand): boolean {
  return strand.cancelled || (strand.within !== null && isCancelled(strand.within));
}

/** The clean-up that the strand belongs to, if it is part of one. */
export function shieldOf(strand: Strand): { until: number } | null {
  return strand.shield ?? (strand.within === null ? null : shieldOf(strand.within));
}

/** What the steps around the strand have left of their times; null where none has any. */
export function leftAround({ leftMs, within }: Strand): number | null {
  const around = within === null ? null : leftAround(within);
  const own = leftMs === undefined ? null : leftMs();
  return own === null || around === null ? (own ?? around) : Math.min(own, around);
}

/** What of a strand travels to a segment. */
export function portionOf(strand: Strand): Pick<Strand, 'path' | 'passes' | 'frame' | 'own' | 'outer' | 'shield'> {
  const { path, passes, own, outer } = strand;
  const frame = withoutListResults(strand.frame);
  const shield = shieldOf(strand);
  return { path, passes, frame, own, outer, ...(shield === null ? {} : { shield }) };
}

/**
 * go: perform the step here. yield: leave the position as it is and return. segment: hand the
 * strand to a segment. stop / cancel: end the run.
 */
export type Gate = 'go' | 'yield' | 'segment' | 'stop' | 'cancel';

/** An event that a line of execution waits for, until a time by the clock. */
export interface WantedEvent {
  /** Key of the step or loop that waits. */
  key: string;
  pattern: string;
  /** Also the event that started the run. */
  withCause: boolean;
  /** By pattern: what the run took of the events that match it, up to a position. */
  consumed: { [pattern: string]: number };
  untilMs: number | null;
  /** `consumed` is that of this line alone, and not the run's; events from before the run began count. */
  isOwn?: true;
}

/** A run asks for the group that its definition names. */
export interface GroupRequest {
  group: string;
  onConflict: NonNullable<Concurrency['onConflict']>;
}

/**
 * `waiting`: `holder` has the group, or nobody yet; `next` is the run right before this one, `ahead` counts all
 * of those, and `cancels` names those that were told to end.
 */
export type GroupTurn =
  | { state: 'taken' }
  | { state: 'skipped'; holder: string }
  | { state: 'waiting'; holder: string | null; next: string; ahead: number; cancels?: string[] };

/** `holder`: the run that has a place the longest; `ahead`: how many wait before this one. */
export type PlaceTurn = { state: 'taken' } | { state: 'waiting'; holder: string | null; ahead: number };

/** `settled`: answered, see the position. `late`: it is the time until which to wait. */
export type AskEnd = 'settled' | 'late' | 'yield' | 'stop' | 'cancel';

/** `carry`: the run continues as new, and what is left of the rest is taken there. */
export type RestEnd = Gate | 'carry';

/** How a strand stands after a segment; `own` holds only what the segment changed. */
export interface SegmentReport {
  flow: Flow;
  frame: Strand['frame'];
  set: Variables;
  tally: Tally | null;
  steps: number;
  spent?: Usage;
  /** Steps that it skipped because somebody had said so. */
  skipped?: string[];
}

/** A model step at the beginning of a turn. */
export interface AgentAt {
  step: LlmStep;
  place: Place;
  open: ModelFrame;
  /** Key of the turn; no other agent segment of the run begins with it. */
  key: string;
}

/** How a model step stands after an agent segment. */
export interface AgentReport {
  open: ModelFrame;
  /** Null: what comes next is not for an agent segment to do, or it was told to hand back. */
  halt: Halt | null;
  steps: number;
  spent?: Usage;
}

/** What a command would do, or why it could do nothing. */
export type Resolved = { resolved: Json } | { failure: FailureInfo };

export interface Host {
  /** Milliseconds since the epoch, the same on replay. */
  now(): number;
  /** Asked before every step, and on the way back into one that is open. A promise only while the run is paused. */
  gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate>;
  /** Only what all judges have passed. */
  perform(strand: Strand, allowed: Allowed): Promise<Reply>;
  /** The same with a step that is claimed before; only where the host `claims` it. */
  performClaimed(strand: Strand, allowed: Allowed): Promise<Reply | GoesOn>;
  /** Told of what the list of judges says of an action, each time that it is asked. */
  judged(key: string, verdicts: readonly Verdict[]): void;
  /** Lets a quick-step segment advance the strand; only after `gate` said segment. */
  segment(strand: Strand, key: string, budget?: RunBudget): Promise<SegmentReport>;
  /** Whether turns of a model, and their calls, are handed over together. */
  hasAgents(): boolean;
  /** Lets an agent segment advance a model step; only where the host has them. */
  agent(strand: Strand, at: AgentAt, budget?: RunBudget): Promise<AgentReport>;
  /** Whether a segment performs such a step, or begins it. */
  isInSegment(step: Step): boolean;
  /** Whether a step is claimed before it is performed here: its frame says so from then on. */
  claims(step: Step): boolean;
  /** Whether this host performs such a step itself; else it hands the position back before. */
  performs(step: Step): boolean;
  /** Holds the run, at once, until it is resumed, or its question `id` is answered; `yield` where the host cannot wait. */
  hold(reason: string, id: string): Promise<Gate>;
  /** The pause between two passes or attempts; `yield` where the host cannot wait. */
  rest(key: string, ms: number, strand: Strand): Promise<RestEnd>;
  /**
   * Runs a part of a strand within a time: when `leftMs` has come to 0, the strand is cancelled with
   * its effects. With a shield nothing else cancels it.
   */
  bound(strand: Strand, leftMs: () => number, walk: () => Promise<Flow>): Promise<Flow>;
  /** Whether `leftMs` comes to 0 before `ended`; time that the run is held does not pass. */
  isLate(leftMs: () => number, ended: Promise<unknown>): Promise<boolean>;
  /** SHA-256 of a text, in hexadecimal; null where the host cannot wait. */
  digest(text: string, about: string): Promise<string | null>;
  /** Reads a definition that stands in a variable; only for steps that no segment runs. */
  readDefinition(key: string, given: GivenDefinition): Promise<ReadDefinition>;
  /** Reads what a command would start; only for steps that no segment runs. */
  readStarted(key: string, handed: Handed): Promise<StartedProgram>;
  /** Finds out what a command would do as the project is now; only for steps that no segment runs. */
  resolve(effect: CommandEffect): Promise<Resolved>;
  /** Waits until the question is answered, it is `untilMs` by the clock, or the run has to move. */
  ask(strand: Strand, question: Question, untilMs: number | null): Promise<AskEnd>;
  /** The next event that is wanted and not consumed; where the host cannot wait, `yield`. */
  nextEvent(strand: Strand, wanted: WantedEvent): Promise<PublishedEvent | Exclude<AskEnd, 'settled'>>;
  /** The run's turn in its group; only asked before its first step. */
  askForGroup(request: GroupRequest): Promise<GroupTurn | 'yield' | 'stop' | 'cancel'>;
  /** Waits until the run has a place of its persona, and tells where it stands meanwhile. While it is held it waits for none. */
  takePlace(
    strand: Strand | null,
    tell: (standing: Extract<PlaceTurn, { state: 'waiting' }>) => void,
  ): Promise<'taken' | 'yield' | 'stop' | 'cancel'>;
  /** Gives it up, whether it was taken or is waited for. */
  leavePlace(): Promise<void>;
  /**
   * Waits until the persona of the run has budget again, and tells until when that is, in milliseconds since the epoch,
   * and why. `yield` where the host cannot wait.
   */
  awaitDay(
    strand: Strand,
    key: string,
    tell: (until: number, why: string) => void,
  ): Promise<'go' | 'yield' | 'stop' | 'cancel'>;
  /**
   * Waits until it is `untilMs` by the clock, or the run has to move; where the host cannot wait, `yield`. Past that it
   * waits on while the run stands still, at most until `clockMs`, which comes nevertheless.
   */
  sleep(strand: Strand, key: string, untilMs: number, clockMs: number | null): Promise<Exclude<AskEnd, 'settled'>>;
  /** Runs a part of the walk whose effects can be cancelled on their own. */
  group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void };
  /**
   * Told of an item that failed and whose failure is collected, while it still stands where it failed. `yield` where
   * another host is to be told, from whose history a run can begin there.
   */
  itemFails(list: Place, item: Strand): 'go' | 'yield';
  /**
   * Asked when all lines of a parallel step have ended, and the step itself has not: from there its failed items are
   * performed again in another run. `yield` where history would not have the place.
   */
  linesEnd(strand: Strand, place: Place, frame: BlockFrame): 'go' | 'yield';
  record(event: RunEvent): void;
  /** Called whenever a line of execution waits or ends. */
  suspended(): void;
}

/** A host whose run nobody goes on with from the middle of a list, and that claims nothing. */
export class KeepingNoLines {
  claims(_step: Step): boolean {
    return false;
  }

  performClaimed(_strand: Strand, _allowed: Allowed): Promise<Reply | GoesOn> {
    throw new Error('bug: a step is claimed where none is');
  }

  judged(_key: string, _verdicts: readonly Verdict[]): void {}

  itemFails(_list: Place, _item: Strand): 'go' | 'yield' {
    return 'go';
  }

  linesEnd(_strand: Strand, _place: Place, _frame: BlockFrame): 'go' | 'yield' {
    return 'go';
  }
}

/** A host that waits for nothing: whatever would have to be waited for goes back to the host that can. */
export class PassingHost extends KeepingNoLines {
  hold(): Promise<Gate> {
    return Promise.resolve('yield');
  }

  rest(): Promise<RestEnd> {
    return Promise.resolve('yield');
  }

  /** It is done sooner than any time it could be held to. */
  bound(_strand: Strand, _leftMs: () => number, walk: () => Promise<Flow>): Promise<Flow> {
    return walk();
  }

  isLate(): Promise<boolean> {
    return Promise.resolve(false);
  }

  digest(): Promise<null> {
    return Promise.resolve(null);
  }

  readDefinition(): never {
    throw new Error('bug: a nested run begins where nothing can be waited for');
  }

  readStarted(): never {
    throw new Error('bug: a run is started where nothing can be waited for');
  }

  resolve(): never {
    throw new Error('bug: a command is to be approved where nothing can be waited for');
  }

  ask(): Promise<AskEnd> {
    return Promise.resolve('yield');
  }

  askForGroup(): Promise<GroupTurn | 'yield'> {
    return Promise.resolve('yield');
  }

  takePlace(): never {
    throw new Error('bug: a place is asked for where nothing can be waited for');
  }

  leavePlace(): never {
    throw new Error('bug: a place is left where none is taken');
  }

  awaitDay(): Promise<'yield'> {
    return Promise.resolve('yield');
  }

  nextEvent(): Promise<'yield'> {
    return Promise.resolve('yield');
  }

  sleep(): Promise<'yield'> {
    return Promise.resolve('yield');
  }

  hasAgents(): boolean {
    return false;
  }

  agent(): never {
    throw new Error('bug: an agent segment begins where there are none');
  }

  performs(_step: Step): boolean {
    return true;
  }

  isInSegment(_step: Step): boolean {
    return false;
  }

  group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void } {
    return { ended: walk(), cancel: () => undefined };
  }

  /** Nothing is handed over meanwhile. */
  suspended(): void {}
}
