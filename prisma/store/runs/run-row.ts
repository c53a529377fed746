/** A run as its row has it. */
import type { RunOutcome, RunStatus } from '../../../language/events/run-event.ts';
import type { FailureInfo } from '../../../language/failure.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Run, RunStarter } from '../contract/contract.ts';

export interface RunRow {
  handle: string;
  name: string;
  definitionHash: string;
  project: string;
  persona: string;
  parent: string | null;
  startedBy: string;
  inputs: unknown;
  status: string;
  outcome: string | null;
  limit: string | null;
  failure: unknown;
  outputs: unknown;
  iterations: number;
  startedAt: Date;
  finishedAt: Date | null;
}

/** The columns hold what this project wrote, so their types are known. */
export function toRun(row: RunRow): Run {
  return {
    handle: row.handle,
    name: row.name,
    definitionHash: row.definitionHash,
    project: row.project,
    persona: row.persona,
    parent: row.parent,
    startedBy: row.startedBy as RunStarter,
    inputs: row.inputs as JsonObject,
    status: row.status as RunStatus,
    outcome: row.outcome as RunOutcome | null,
    limit: row.limit,
    failure: row.failure as FailureInfo | null,
    outputs: row.outputs as { [name: string]: Json } | null,
    iterations: row.iterations,
    startedAt: row.startedAt.getTime(),
    finishedAt: row.finishedAt?.getTime() ?? null,
  };
}
