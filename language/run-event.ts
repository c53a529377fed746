/**
 * What happens in a run, as one union: the database, the log line, the trace, the query and the
 * tests all speak it. `seq` orders the events of a run (gaps are allowed: a segment reserves a
 * block of numbers); `key` is the step's key, empty for events of the run itself.
 */
import type { FailureInfo } from './failure.ts';
import type { Json, JsonObject } from './json.ts';
import type { StepType } from './model.ts';

export type RunStatus = 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

/** How a run ended: by itself, by a failure, by a limit or a stop, or by cancellation. */
export type RunOutcome = 'completed' | 'failed' | 'stopped' | 'cancelled';

export type StepOutcome = 'ok' | 'failed' | 'skipped' | 'cancelled';

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
}

export interface Paused extends Stamp {
  type: 'paused';
  reason: string;
}

export interface Resumed extends Stamp {
  type: 'resumed';
}

export interface RunFinished extends Stamp {
  type: 'run-finished';
  status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>;
  outcome: RunOutcome;
  /** The limit that stopped the run: `maxIterations`, `timeoutMs`, or `stop` when a person did. */
  limit?: string;
  failure?: FailureInfo;
  iterations: number;
  durationMs: number;
  outputs: { [name: string]: Json };
}

export type RunEvent =
  | RunStarted
  | StepStarted
  | StepFinished
  | PassFinished
  | Warning
  | Paused
  | Resumed
  | RunFinished;

export type RunEventType = RunEvent['type'];
