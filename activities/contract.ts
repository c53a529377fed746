/**
 * What the workflow asks of activities. Activity types carry the command's own name, `shell`,
 * `emit` or `segment`; the activity id is the step's key and the workflow id names the run, so the
 * inputs hold only what those do not say.
 */
import type { Json, JsonObject } from '../language/json.ts';
import type { RunEvent } from '../language/run-event.ts';
import type { RunInput, SegmentReport, Strand } from '../workflows/interpreter/host.ts';
import type { Position, Tally } from '../workflows/interpreter/position.ts';

export const SEGMENT = 'segment';
export const SHELL = 'shell';
export const EMIT = 'emit';

/** Numbers of events a segment may use; the workflow goes on counting after them. */
export const SEGMENT_EVENTS_MAX = 1024;
export const SEGMENT_STEPS_MAX = 200;
export const SEGMENT_MS = 250;

/** Added to a step's own timeout, so that the step, not the server, notices it first. */
export const TIMEOUT_MARGIN_MS = 120_000;

export interface SegmentRequest {
  strand: Pick<Strand, 'path' | 'passes' | 'frame' | 'own' | 'outer'>;
  /** Key of the step it begins with: its journal key. */
  key: string;
  /** First free event number. */
  seq: number;
  stepsMax: number;
  tally: Tally | null;
  pausedMs: number;
  extensions: Position['extensions'];
  /** Journal keys of segments that history already holds. */
  forget: string[];
}

export interface SegmentResult extends SegmentReport {
  durationMs: number;
}

export interface ShellRequest {
  command: string;
  args?: string[];
  cwd?: string;
  env?: { [name: string]: string };
  files?: { [name: string]: string };
  stdin?: string;
}

/** Present only for steps that state retries: a failure at this attempt is final. */
export interface StepOptions {
  attempts: number;
}

export interface Activities {
  [SEGMENT](input: RunInput, request: SegmentRequest): Promise<SegmentResult>;
  [SHELL](request: ShellRequest, options?: StepOptions): Promise<Json>;
  [EMIT](request: { event: string; data: Json }, options?: StepOptions): Promise<Json>;
  [command: string]: (...args: never[]) => Promise<Json | SegmentResult>;
}

export type CommandActivity = (params: JsonObject, options?: StepOptions) => Promise<Json>;

/** Calls out of workflow code that leave no trace in history: the run's events on their way to the store. */
export interface Recorder {
  append(handle: string, events: RunEvent[]): void;
}
