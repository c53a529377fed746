/**
 * Ends in the store the runs whose workflows were ended from outside (terminated in the Web UI, by Temporal's
 * own command line or by ours, or timed out) where nobody has done so yet (runs/settle-run.ts).
 *
 * - Every worker looks, and any of them may be the one that writes.
 * - A workflow that Temporal does not know is left alone: this may be another Temporal.
 */
import { TerminatedFailure } from '@temporalio/common';
import { type Client, WorkflowFailedError, type WorkflowExecutionInfo } from '@temporalio/client';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { wakeRun } from '../../runs/run-controller.ts';
import { endInReason, settleRun, type OutsideEnd } from '../../runs/settle-run.ts';
import { handleOf, WORKFLOW_TYPE } from '../../workflows/messages/messages.ts';
import { BackgroundLoop, rest } from './background-loop.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

const LOOK_MS = 10_000;
/** What a run wrote before it was ended may still be on its way to the store. */
const GRACE_MS = 5_000;
/** Temporal's lists are a little behind. */
const BEHIND_MS = 60_000;

export interface LostRunsParts {
  client: Pick<Client, 'workflow'>;
  store: Pick<Store, 'runs' | 'events' | 'inbox' | 'leases'>;
}

export class LostRuns {
  readonly #parts: LostRunsParts;
  readonly #loop: BackgroundLoop;
  /** Everything that ended before has been looked at. */
  #since = 0;

  constructor(parts: LostRunsParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: LOOK_MS });
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    await this.#look(signal);
    await rest(LOOK_MS, signal);
  }

  async #look(signal: AbortSignal): Promise<void> {
    const before = Date.now() - GRACE_MS;
    const closed = `CloseTime >= '${new Date(this.#since).toISOString()}' AND CloseTime <= '${new Date(before).toISOString()}'`;
    const query = `WorkflowType = '${WORKFLOW_TYPE}' AND (ExecutionStatus = 'Terminated' OR ExecutionStatus = 'TimedOut') AND ${closed}`;
    let isDone = true;
    for await (const workflow of this.#parts.client.workflow.list({ query })) {
      if (signal.aborted) return;
      // One that cannot be settled keeps none of the others from it.
      await this.#settle(workflow).catch(() => (isDone = false));
    }
    if (isDone) this.#since = before - BEHIND_MS;
  }

  async #settle(workflow: WorkflowExecutionInfo): Promise<void> {
    const { client, store } = this.#parts;
    const handle = handleOf(workflow.workflowId);
    const run = await store.runs.find(handle);
    if (run === null || run.finishedAt !== null) return;
    // A start may have taken the handle up again since.
    const { runId } = await client.workflow.getHandle(workflow.workflowId).describe();
    if (runId !== workflow.runId) return;
    const at = workflow.closeTime?.getTime() ?? Date.now();
    crashPoint('lost.found', { handle });
    await settleRun(store, run, { ...(await howItEnded(client, handle, workflow)), at }, (other) =>
      wakeRun(client, other),
    );
    crashPoint('lost.settled', { handle });
  }
}

async function howItEnded(
  client: LostRunsParts['client'],
  handle: string,
  workflow: WorkflowExecutionInfo,
): Promise<Pick<OutsideEnd, 'code' | 'message'>> {
  const lost = (how: string): Pick<OutsideEnd, 'code' | 'message'> => ({
    code: 'RUN_LOST',
    message: `the workflow of ${handle} ${how}, so the run has no result; start it anew, or fork it where it was`,
  });
  if (workflow.status.name !== 'TERMINATED') return lost('ran into a time limit of Temporal');
  const reason = await reasonOf(client, workflow);
  return endInReason(reason) ?? lost(`was terminated from outside${reason === '' ? '' : ` (${reason})`}`);
}

async function reasonOf(
  client: LostRunsParts['client'],
  { workflowId, runId }: WorkflowExecutionInfo,
): Promise<string> {
  return client.workflow
    .getHandle(workflowId, runId, { followRuns: false })
    .result()
    .then(
      () => '',
      (error: unknown) =>
        error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure ? error.cause.message : '',
    );
}
