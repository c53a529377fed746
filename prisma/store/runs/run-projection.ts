/**
 * What a batch of events does to its run's row. Folding the batch first makes it one statement, and
 * the sequence number makes it idempotent: events written again, or late, never turn a newer status
 * back.
 */
import type { RunEvent, RunFinished, RunStarted, RunStatus } from '../../../language/events/run-event.ts';

export interface RunProjection {
  started: RunStarted | null;
  finished: RunFinished | null;
  /** The newest of paused, resumed and finished; null where the batch has none of them. */
  status: { value: RunStatus; seq: number } | null;
  iterations: number;
}

/** Null when the batch leaves the row as it is. Expects the events in the order of `seq`. */
export function projectRun(events: readonly RunEvent[]): RunProjection | null {
  const projection: RunProjection = { started: null, finished: null, status: null, iterations: 0 };
  let changes = false;
  for (const event of events) changes = projectEvent(projection, event) || changes;
  return changes ? projection : null;
}

function projectEvent(projection: RunProjection, event: RunEvent): boolean {
  switch (event.type) {
    case 'run-started':
      projection.started = event;
      return true;
    case 'paused':
      projection.status = { value: 'paused', seq: event.seq };
      return true;
    case 'resumed':
      projection.status = { value: (event.open ?? 0) > 0 ? 'paused' : 'running', seq: event.seq };
      return true;
    case 'asked':
      projection.status = { value: 'paused', seq: event.seq };
      return true;
    case 'answered':
    case 'expired':
    case 'withdrawn':
      projection.status = { value: event.open > 0 || event.held ? 'paused' : 'running', seq: event.seq };
      return true;
    case 'pass-finished':
      projection.iterations = Math.max(projection.iterations, event.pass);
      return true;
    case 'run-finished':
      projection.finished = event;
      projection.status = { value: event.status, seq: event.seq };
      projection.iterations = event.iterations;
      return true;
    case 'approved':
    case 'reminded':
    case 'step-started':
    case 'step-finished':
    case 'warning':
    case 'compacted':
    case 'notified':
    case 'edited':
    case 'told':
    case 'heard':
    case 'group':
      return false;
    default:
      return event satisfies never;
  }
}
