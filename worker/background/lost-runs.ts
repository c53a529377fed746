/**
 * Ends in the store the runs whose workflows were ended from outside (terminated in the Web UI or by
 * Temporal's own command line, or timed out): they write no last event, and would be under way for
 * ever, with what they ask.
 *
 * - Every worker looks, and any of them may be the one that writes: the events are the same under the
 *   same numbers, which lie behind all that a run gives out itself.
 * - A workflow that Temporal does not know is left alone: this may be another Temporal.
 */
import { TerminatedFailure } from '@temporalio/common';
import { type Client, WorkflowFailedError, type WorkflowExecutionInfo } from '@temporalio/client';
import { outsideSeq, type RunEvent, type StepStarted } from '../../language/events/run-event.ts';
import type { Run, Store } from '../../prisma/store/contract/contract.ts';
import { everyEvent } from '../../prisma/store/runs/every-event.ts';
import { handleOf, WORKFLOW_TYPE } from '../../workflows/messages/messages.ts';
import { BackgroundLoop, rest } from './background-loop.ts';

const LOOK_MS = 10_000;
/** What a run wrote before it was ended may still be on its way to the store. */
const GRACE_MS = 5_000;
/** Temporal's lists are a little behind. */
const BEHIND_MS = 60_000;

export interface LostRunsParts {
  client: Pick<Client, 'workflow'>;
  store: Pick<Store, 'runs' | 'events' | 'inbox'>;
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
    const message = `the workflow of ${handle} ${await howItEnded(client, workflow)}, so the run has no result; start it anew, or fork it where it was`;
    const at = workflow.closeTime?.getTime() ?? Date.now();
    const end = { at, message, asked: await store.inbox.open(handle), open: await openSteps(store, handle) };
    await store.events.append(handle, lastEvents(run, end));
  }
}

async function openSteps(store: LostRunsParts['store'], handle: string): Promise<StepStarted[]> {
  const open = new Map<string, StepStarted>();
  for await (const event of everyEvent(store, handle)) {
    if (event.type === 'step-started') open.set(event.key, event);
    if (event.type === 'step-finished') open.delete(event.key);
  }
  return [...open.values()];
}

async function howItEnded(
  client: LostRunsParts['client'],
  { workflowId, runId, status }: WorkflowExecutionInfo,
): Promise<string> {
  if (status.name !== 'TERMINATED') return 'ran into a time limit of Temporal';
  const reason = await client.workflow
    .getHandle(workflowId, runId, { followRuns: false })
    .result()
    .then(
      () => '',
      (error: unknown) =>
        error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure ? error.cause.message : '',
    );
  return `was terminated from outside${reason === '' ? '' : ` (${reason})`}`;
}

/** Questions and steps that were open; no run has so many. */
const openMax = 1_000_000;

interface End {
  at: number;
  message: string;
  /** Ids of its open questions, in an order that every worker finds. */
  asked: string[];
  /** Steps that had begun, innermost last. */
  open: StepStarted[];
}

function lastEvents(run: Run, { at, message, asked, open }: End): RunEvent[] {
  const withdrawn = asked.map(
    (id, index) => ({ type: 'withdrawn', key: id, id, open: asked.length - index - 1, held: false }) as const,
  );
  const cut = open.toReversed().map(
    ({ key, step, label, at: began }) =>
      ({
        type: 'step-finished',
        key,
        step,
        label,
        outcome: 'cancelled',
        durationMs: Math.max(0, at - began),
      }) as const,
  );
  const before = [...withdrawn, ...cut]
    .slice(0, openMax)
    .map((event, index): RunEvent => ({ seq: outsideSeq + index, at, ...event }));
  const end: RunEvent = {
    seq: outsideSeq + openMax,
    at,
    key: '',
    type: 'run-finished',
    status: 'failed',
    outcome: 'failed',
    failure: { code: 'RUN_LOST', message, retryable: false },
    iterations: run.iterations,
    durationMs: at - run.startedAt,
    outputs: {},
  };
  return [...before, end];
}
