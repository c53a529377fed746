/**
 * Ends in the store the runs whose workflows were ended from outside (terminated in the Web UI or by
 * Temporal's own command line, or timed out): they write no last event, and would be under way for
 * ever, with what they ask.
 *
 * - Every worker looks, and any of them may be the one that writes: the events are the same under the
 *   same numbers, which lie behind all that a run gives out itself.
 * - A workflow that Temporal does not know is left alone: this may be another Temporal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TerminatedFailure } from '@temporalio/common';
import { type Client, WorkflowFailedError, type WorkflowExecutionInfo } from '@temporalio/client';
import { outsideSeq, type RunEvent, type StepStarted } from '../language/run-event.ts';
import type { Run, Store } from '../prisma/store/contract.ts';
import { handleOf, WORKFLOW_TYPE } from '../workflows/messages.ts';

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
  readonly #closing = new AbortController();
  readonly #done: Promise<void>;
  /** Everything that ended before has been looked at. */
  #since = 0;

  constructor(parts: LostRunsParts) {
    this.#parts = parts;
    this.#done = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      // Where Temporal or the store is away, the next look finds what this one did not.
      await this.#look().catch(() => undefined);
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const before = Date.now() - GRACE_MS;
    const closed = `CloseTime >= '${new Date(this.#since).toISOString()}' AND CloseTime <= '${new Date(before).toISOString()}'`;
    const query = `WorkflowType = '${WORKFLOW_TYPE}' AND (ExecutionStatus = 'Terminated' OR ExecutionStatus = 'TimedOut') AND ${closed}`;
    let isDone = true;
    for await (const workflow of this.#parts.client.workflow.list({ query })) {
      if (this.#closing.signal.aborted) return;
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
    const asked = (await store.inbox.list({ handle, all: true })).filter((item) => item.handle === handle && item.state === 'open');
    const message = `the workflow of ${handle} ${await howItEnded(client, workflow)}, so the run has no result; start it anew, or fork it where it was`;
    const at = workflow.closeTime?.getTime() ?? Date.now();
    const end = { at, message, asked: asked.map(({ id }) => id), open: await this.#openSteps(handle) };
    await store.events.append(handle, lastEvents(run, end));
  }

  async #openSteps(handle: string): Promise<StepStarted[]> {
    const open = new Map<string, StepStarted>();
    for (let seq = -1; ; ) {
      const page = await this.#parts.store.events.after(handle, seq);
      for (const event of page) {
        if (event.type === 'step-started') open.set(event.key, event);
        if (event.type === 'step-finished') open.delete(event.key);
        seq = event.seq;
      }
      if (page.length === 0) return [...open.values()];
    }
  }
}

async function howItEnded(client: LostRunsParts['client'], { workflowId, runId, status }: WorkflowExecutionInfo): Promise<string> {
  if (status.name !== 'TERMINATED') return 'ran into a time limit of Temporal';
  const reason = await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result().then(
    () => '',
    (error: unknown) => (error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure ? error.cause.message : ''),
  );
  return `was terminated from outside${reason === '' ? '' : ` (${reason})`}`;
}

/** Questions and steps that were open; no run has so many. */
const openMax = 1_000_000;

interface End {
  at: number;
  message: string;
  /** Ids of its open questions. */
  asked: string[];
  /** Steps that had begun, innermost last. */
  open: StepStarted[];
}

function lastEvents(run: Run, { at, message, asked, open }: End): RunEvent[] {
  const withdrawn = asked.toSorted().map((id, index) => ({ type: 'withdrawn', key: id, id, open: asked.length - index - 1, held: false }) as const);
  const cut = open.toReversed().map(({ key, step, label, at: began }) => ({ type: 'step-finished', key, step, label, outcome: 'cancelled', durationMs: Math.max(0, at - began) }) as const);
  const before = [...withdrawn, ...cut].slice(0, openMax).map((event, index): RunEvent => ({ seq: outsideSeq + index, at, ...event }));
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
