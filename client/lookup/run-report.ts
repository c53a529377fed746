/** A run as its client sees it: its row, and where to look at it. */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json } from '../../language/json.ts';
import type { Paused, RunOutcome, RunStatus, Warning } from '../../language/events/run-event.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import type { Config } from '../../services/config/config.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';

export interface RunReport {
  handle: string;
  status: RunStatus;
  /** Null while the run has not ended. */
  outcome: RunOutcome | null;
  /** Every variable the run set; values over 32 KiB as a reference with a preview. */
  outputs: { [name: string]: Json };
  iterations: number;
  durationMs: number;
  /** The run in the Temporal Web UI; null when no address of one is known. */
  webUrl: string | null;
  /** The limit that stopped the run. */
  limit?: string;
  failure?: FailureInfo;
  /** Why the run is held, where something but a question holds it. */
  reason?: string;
  /** For whom a step waits, and until when. */
  waiting?: string;
}

export function reportOf(
  run: Run,
  config: Config,
  now: number,
  /** What holds it, and what it was last warned of. */
  { held, said }: { held: Paused | null; said: Warning | null },
): RunReport {
  return {
    handle: run.handle,
    status: run.status,
    outcome: run.outcome,
    outputs: run.outputs ?? {},
    iterations: run.iterations,
    durationMs: (run.finishedAt ?? now) - run.startedAt,
    webUrl: webUrlOf(run.handle, config),
    ...(run.limit === null ? {} : { limit: run.limit }),
    ...(run.failure === null ? {} : { failure: run.failure }),
    ...(held === null ? {} : { reason: held.reason }),
    ...(run.finishedAt === null && said?.until !== undefined && said.until > now ? { waiting: said.message } : {}),
  };
}

/** Of a run that was ended before anything of it was recorded. */
export const reportWithoutRow = (handle: string, webUrl: string | null): RunReport => ({
  handle,
  status: 'cancelled',
  outcome: 'cancelled',
  outputs: {},
  iterations: 0,
  durationMs: 0,
  webUrl,
});

export function webUrlOf(handle: string, { webUrl, temporal }: Config): string | null {
  if (webUrl === null) return null;
  return `${webUrl}/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(workflowIdOf(handle))}`;
}
