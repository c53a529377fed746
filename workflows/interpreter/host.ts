/**
 * The port: everything the walk wants from the world. The Temporal host answers with activities,
 * timers and child workflows; the segment host with commands run at once; the scripted host of the
 * tests from a file. Nothing here may be answered from the clock or at random by the walk itself.
 */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type { Definition, Retry, Step } from '../../language/model.ts';
import type { RunEvent } from '../../language/run-event.ts';
import type { BlockFrame, LoopFrame, Tally, Variables } from './position.ts';

/** What the world answered; `cancelled` is nobody's failure. */
export type Reply =
  | { ok: true; value: Json }
  | { ok: false; failure: FailureInfo }
  | { ok: false; cancelled: true };

interface EffectFrame {
  /** Step path and pass: activity id, idempotency key, label. */
  key: string;
  label: string;
  timeoutMs: number;
  /** What is left of the run's time: retries end with it. */
  leftMs: number | null;
  retry: Retry | null;
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
  /** What the child starts with: its own defaults, the parent's variables, and the step's inputs, later ones winning. */
  base: Variables;
  wait: boolean;
  limits: RunLimits;
  depth: number;
}

export type Effect = ShellEffect | CommandEffect | EmitEffect | NestedEffect;

/** What bounds a run, its own and what it inherits. Times are absolute or in milliseconds. */
export interface RunLimits {
  maxIterations: number | null;
  /** Wall time the run may still take when it starts. */
  timeoutMs: number | null;
  stepTimeoutMs: number | null;
  /** How deep sentinels may be nested, counted from the outermost run. */
  nestingDepth: number | null;
}

/** What never changes while a run lasts. */
export interface RunInput {
  handle: string;
  definition: Definition;
  /** Definitions that `$ref`s in this one resolve to, by name; part of the run from its start. */
  library: { [name: string]: Definition };
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
  /** Continue as new after this many steps, besides when history grows long. */
  continueEvery?: number;
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
}

export function isCancelled(strand: Strand): boolean {
  return strand.cancelled || (strand.within !== null && isCancelled(strand.within));
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
  /** `key`: the step the segment begins with. */
  | { kind: 'segment'; key: string };

/** How a strand stands after a segment; `own` holds only what the segment changed. */
export interface SegmentReport {
  flow: Flow;
  frame: Strand['frame'];
  set: Variables;
  tally: Tally | null;
  steps: number;
}

export interface Host {
  /** Milliseconds since the epoch, the same on replay. */
  now(): number;
  /** Asked before every step. A promise only while the run is paused. */
  gate(strand: Strand, key: string, step: Step): Gate | Promise<Gate>;
  perform(strand: Strand, effect: Effect): Promise<Reply>;
  /** Lets a quick-step segment advance the strand; only after `gate` said segment. */
  segment(strand: Strand, key: string): Promise<SegmentReport>;
  /** Holds the run until it is resumed; `yield` where the host cannot wait. */
  hold(reason: string): Promise<Gate>;
  /** The pause between two passes; `yield` where the host cannot wait. */
  rest(key: string, ms: number): Promise<Gate>;
  /** Runs a branch so that `strand.cancelled` and its effects can be cancelled on their own. */
  fork(strand: Strand, walk: () => Promise<Flow>): { flow: Promise<Flow>; cancel: () => void };
  record(event: RunEvent): void;
  /** Called whenever a line of execution waits or ends. */
  suspended(): void;
}
