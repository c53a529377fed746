/**
 * The port: everything the walk wants from the world. The Temporal host answers with activities,
 * timers and child workflows; the segment host with commands run at once; the scripted host of the
 * tests from a file. Nothing here may be answered from the clock or at random by the walk itself.
 */
import type { Catalogue } from '../language/catalogue.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Definition, Rule, Step } from '../language/model.ts';
import type { Confinement, Mode } from '../language/permissions.ts';
import type { GivenDefinition, ReadDefinition } from '../language/read/nested-definition.ts';
import type { PublishedEvent } from '../language/events/published-event.ts';
import type { Question } from '../language/events/question.ts';
import type { RunEvent } from '../language/events/run-event.ts';
import type { BlockFrame, LoopFrame, Tally, Usage, Variables } from './position.ts';

/** What the world answered, and what it cost; `cancelled` is nobody's failure. `stoppedBy`: the limit, or the `stop`, that ended a nested run. */
export type Reply = (
  { ok: true; value: Json; stoppedBy?: string } | { ok: false; failure: FailureInfo } | { ok: false; cancelled: true }
) & { usage?: Partial<Usage> };

interface EffectFrame {
  /** Step path and pass: activity id, idempotency key, label. */
  key: string;
  label: string;
  timeoutMs: number;
  /** How its processes are held in; absent means not at all. */
  confinement?: Confinement;
  /** The environment variables that the run may read, as it holds them. */
  secrets?: { [name: string]: string };
  /** The most it may cost beyond the step itself; reserved before it is asked for. */
  most?: Partial<Usage>;
}

export interface ShellEffect extends EffectFrame {
  type: 'shell';
  command: string;
  args?: string[];
  cwd?: string;
  env?: { [name: string]: string };
  stdin?: string;
  /** Values too large for the environment, by variable name. */
  files?: { [name: string]: string };
}

export interface CommandEffect extends EffectFrame {
  type: 'command';
  command: string;
  params: JsonObject;
}

export interface EmitEffect extends EffectFrame {
  type: 'emit';
  event: string;
  data: Json;
}

export interface NestedEffect extends EffectFrame {
  type: 'sentinel';
  definition: Definition;
  /** What the definition refers to besides what the run was started with. */
  library?: { [name: string]: Definition };
  /** Commands that these name. */
  catalogue?: Catalogue;
  /** What the child starts with: its own defaults, the parent's variables, and the step's inputs, later ones winning. */
  base: Variables;
  wait: boolean;
  limits: RunLimits;
  depth: number;
}

/** Waiting for a process that an earlier step started. */
export interface WatchEffect extends EffectFrame {
  type: 'watch';
  request: {
    executionId: string;
    rules?: Rule[];
    until?: 'finished' | 'error' | 'match';
    /** Lines up to here were told by an earlier watch. */
    after?: number;
  };
}

export type Effect = ShellEffect | CommandEffect | EmitEffect | NestedEffect | WatchEffect;

/** What a run may use, with all runs nested in it. */
export interface RunBudget {
  steps?: number;
  tokens?: number;
  usd?: number;
  /** Wall time the run may still take when it starts. */
  wallMs?: number;
  /** Where it runs out, the run is held and not stopped. */
  pause?: boolean;
  /** A segment's part of the run's budget. */
  isShare?: true;
}

/** What bounds a run, its own and what it inherits. Times are absolute or in milliseconds. */
export interface RunLimits {
  maxIterations: number | null;
  /** Wall time the run may still take when it starts. */
  timeoutMs: number | null;
  stepTimeoutMs: number | null;
  /** How deep sentinels may be nested, counted from the outermost run. */
  nestingDepth: number | null;
  /** Classes of actions that wait for approval. */
  requireApproval?: ('write' | 'shell' | 'delete' | 'network')[];
  /** Absent: full. */
  mode?: Exclude<Mode, 'full'>;
  /** Memory of each step's processes together. */
  memoryMb?: number;
  budget?: RunBudget;
}

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
  persona: string;
  /** Inputs, and for a nested run the parent's variables. */
  base: Variables;
  limits: RunLimits;
  /** 1 for a run of its own, one more for each nesting. */
  depth: number;
  parent: string | null;
  startedAt: number;
  /** Values of the environment variables that the definitions list, read when the run was started. */
  env?: { [name: string]: string };
  /** Continue as new after this many steps, besides when history grows long. */
  continueEvery?: number;
  /** What of the ledger the run began with (changes.ts); none where it is absent. */
  level?: number;
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
  const { path, passes, frame, own, outer } = strand;
  const shield = shieldOf(strand);
  return { path, passes, frame, own, outer, ...(shield === null ? {} : { shield }) };
}

/**
 * go: perform the step here. yield: leave the position as it is and return. segment: hand the
 * strand to a segment. stop / cancel: end the run.
 */
export type Gate = 'go' | 'yield' | 'segment' | 'stop' | 'cancel';

export type Flow =
  | { kind: 'done' }
  | { kind: 'failed'; failure: FailureInfo }
  | { kind: 'stopped'; limit: string }
  | { kind: 'cancelled' }
  | { kind: 'yield' }
  /** `key`: the step the segment begins with, as the definition stood at `revision`. */
  | { kind: 'segment'; key: string; revision: number };

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
}

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

export interface Host {
  /** Milliseconds since the epoch, the same on replay. */
  now(): number;
  /** Asked before every step, and on the way back into one that is open. A promise only while the run is paused. */
  gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate>;
  perform(strand: Strand, effect: Effect): Promise<Reply>;
  /** Lets a quick-step segment advance the strand; only after `gate` said segment. */
  segment(strand: Strand, key: string, budget?: RunBudget): Promise<SegmentReport>;
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
  digest(text: string): Promise<string | null>;
  /** Reads a definition that stands in a variable; only for steps that no segment runs. */
  readDefinition(key: string, given: GivenDefinition): Promise<ReadDefinition>;
  /** Waits until the question is answered, it is `untilMs` by the clock, or the run has to move. */
  ask(strand: Strand, question: Question, untilMs: number | null): Promise<AskEnd>;
  /** The next event that is wanted and not consumed; where the host cannot wait, `yield`. */
  nextEvent(strand: Strand, wanted: WantedEvent): Promise<PublishedEvent | Exclude<AskEnd, 'settled'>>;
  /** Runs a part of the walk whose effects can be cancelled on their own. */
  group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void };
  record(event: RunEvent): void;
  /** Called whenever a line of execution waits or ends. */
  suspended(): void;
}
