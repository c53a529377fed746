/**
 * Everything said to a run from outside, and every name under which Temporal knows it. These names
 * are API: runs that are under way depend on them.
 */
import type { RunEvent, RunStatus } from '../language/run-event.ts';
import type { Position } from './interpreter/position.ts';

export const WORKFLOW_TYPE = 'sentinel';
export const DEFAULT_TASK_QUEUE = 'sentinel';

export { handleOf, workflowIdOf } from './interpreter/keys.ts';

/** Updates; each answers with the run's state after it. A validator refuses what cannot be done. */
export const UPDATES = { pause: 'pause', resume: 'resume', stop: 'stop' } as const;

/** Signals between a parent and its nested runs. */
export const SIGNALS = { control: 'control' } as const;

export const QUERIES = { status: 'status', trace: 'trace', position: 'position' } as const;

export type ControlVerb = keyof typeof UPDATES;

export interface RunState {
  handle: string;
  status: RunStatus;
  /** Why a paused run is held. */
  reason: string | null;
  stopping: boolean;
  iteration: number;
  steps: number;
  /** Keys and labels of the steps under way. */
  current: { key: string; label: string }[];
  startedAt: number;
}

export interface Messages {
  pause(reason?: string): RunState;
  resume(): RunState;
  stop(): RunState;
  control(verb: ControlVerb): void;
  status(): RunState;
  /** The latest events recorded by the workflow itself; the store has all. */
  trace(): RunEvent[];
  position(): Position;
}
