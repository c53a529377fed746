/**
 * Which executions of Temporal are runs of this installation. What a run starts with is sealed for its
 * workflow id, so whoever reaches Temporal can send a copy of it once the run has ended, and a copy of what a
 * step was given. Neither performs anything:
 *
 * - The first execution that a worker walks is the run: the store keeps its first run id. Temporal makes these
 *   ids, and an execution that continues as new or is reset keeps its own.
 * - A nested run is what an execution has started that is a run itself. So a parent that is reset starts the
 *   runs below it again.
 */
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { LRUCache } from 'lru-cache';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { RunSinks } from '../../workflows/host/recording.ts';
import { handleOf, workflowIdOf } from '../../workflows/messages/messages.ts';
import { NOT_SEALED } from '../../workflows/messages/unsealed.ts';

interface ExecutionId {
  workflowId: string;
  runId: string;
}

interface Execution extends ExecutionId {
  first: string;
  parent: ExecutionId | null;
}

/** `unknown`: the store has no row of the run yet. */
type Finding = 'own' | 'copy' | 'unknown';

export interface OwnExecutionsParts {
  client: Client;
  store: Pick<Store, 'runs'>;
  say: (text: string) => void;
}

const keptMax = 10_000;

export class OwnExecutions {
  readonly #parts: OwnExecutionsParts;
  /** Those that this worker walks, by run id. */
  readonly #walked = new LRUCache<string, Execution>({ max: keptMax });
  readonly #findings = new LRUCache<string, Finding>({ max: keptMax });
  /** The latest look for a record of a run. */
  readonly #looks = new LRUCache<string, Promise<Finding>>({ max: keptMax });

  constructor(parts: OwnExecutionsParts) {
    this.#parts = parts;
  }

  /**
   * Nothing that a copy records is written. Whatever of its own a run records comes before its first step, in the
   * order in which it was recorded, and before the workflow task is answered: what follows waits for a look that is
   * under way, and once the finding is known nothing waits.
   */
  recorded(sinks: InjectedSinks<RunSinks>): InjectedSinks<RunSinks> {
    const { append, settle, ...others } = sinks.recorder;
    return {
      recorder: {
        ...others,
        append: {
          ...append,
          fn: (info, handle, events, ...rest) => {
            const execution = executionOf(info);
            this.#walked.set(info.runId, execution);
            const write = (finding: Finding): void | Promise<void> =>
              finding === 'copy' ? undefined : append.fn(info, handle, events, ...rest);
            const before = this.#looks.get(info.runId);
            const known = this.#findings.get(info.runId);
            if (before === undefined && known !== undefined) return write(known);
            return this.#look(execution, before ?? Promise.resolve()).then(write);
          },
        },
        settle: {
          ...settle,
          fn: async (info, handle) => {
            await this.#looks.get(info.runId);
            await settle.fn(info, handle);
          },
        },
      },
    };
  }

  /** A store that is away is waited for where the events are written, and before the first step. */
  #look(execution: Execution, before: Promise<unknown>): Promise<Finding> {
    const look = before
      .then(() => this.#find(execution))
      .catch((): Finding => 'unknown')
      .finally(() => {
        if (this.#looks.get(execution.runId) === look) this.#looks.delete(execution.runId);
      });
    this.#looks.set(execution.runId, look);
    return look;
  }

  readonly interceptor: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
        const finding = await this.#find({ workflowId, runId });
        if (finding === 'own') return next(input);
        const handle = handleOf(workflowId);
        if (finding === 'unknown') throw new Error(`the store has no run "${handle}" yet`);
        const message = `${info.activityId}: ${handle} was started before; this is a copy of its start, which nobody with a key of this installation has sent`;
        this.#parts.say(message);
        await this.#end({ workflowId, runId });
        throw ApplicationFailure.nonRetryable(message, NOT_SEALED);
      },
    },
  });

  async #find(id: ExecutionId): Promise<Finding> {
    const known = this.#findings.get(id.runId);
    if (known !== undefined) return known;
    const found = await this.#lookUp(this.#walked.get(id.runId) ?? (await this.#asked(id)));
    if (found !== 'unknown') this.#findings.set(id.runId, found);
    return found;
  }

  async #lookUp({ workflowId, first, parent }: Execution): Promise<Finding> {
    const { runs } = this.#parts.store;
    const handle = handleOf(workflowId);
    const row = await runs.claim(handle, first);
    if (row === null) return 'unknown';
    if (row.execution === first) return 'own';
    if (row.parent === null || parent?.workflowId !== workflowIdOf(row.parent)) return 'copy';
    const around = await this.#find(parent);
    if (around === 'own') await runs.claimNested(handle, first);
    return around;
  }

  /** Its first event says it, on whichever worker it is walked. */
  async #asked({ workflowId, runId }: ExecutionId): Promise<Execution> {
    const { client } = this.#parts;
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    });
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    const { parentWorkflowExecution: parent } = started ?? {};
    return {
      workflowId,
      runId,
      first: started?.firstExecutionRunId ?? '',
      parent: parent ? { workflowId: parent.workflowId ?? '', runId: parent.runId ?? '' } : null,
    };
  }

  async #end({ workflowId, runId }: ExecutionId): Promise<void> {
    const { client } = this.#parts;
    // It may have ended by itself; and whatever else it asks for is refused.
    await client.workflow
      .getHandle(workflowId, runId)
      .terminate(NOT_SEALED)
      .catch(() => undefined);
  }
}

const executionOf = ({ workflowId, runId, firstExecutionRunId, parent }: WorkflowInfo): Execution => ({
  workflowId,
  runId,
  first: firstExecutionRunId,
  parent: parent === undefined ? null : { workflowId: parent.workflowId, runId: parent.runId },
});
