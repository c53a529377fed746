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
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { LRUCache } from 'lru-cache';
import type { Store } from '../prisma/store/contract/contract.ts';
import { handleOf, workflowIdOf } from '../workflows/messages/messages.ts';
import { NOT_SEALED, unsealedFinding } from '../workflows/messages/unsealed.ts';

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

/** Which executions are runs of this installation. */
export interface Executions {
  walks(info: WorkflowInfo): void;
  /** Whether what is walked under this handle now is a copy of a run. */
  isCopy(handle: string): Promise<boolean>;
}

export interface OwnExecutionsParts {
  client: Client;
  store: Pick<Store, 'runs'>;
  say: (text: string) => void;
}

const keptMax = 10_000;

export class OwnExecutions implements Executions {
  readonly #parts: OwnExecutionsParts;
  /** The execution of each workflow id that this worker walked last. */
  readonly #walked = new LRUCache<string, Execution>({ max: keptMax });
  readonly #findings = new LRUCache<string, Finding>({ max: keptMax });

  constructor(parts: OwnExecutionsParts) {
    this.#parts = parts;
  }

  walks({ workflowId, runId, firstExecutionRunId, parent }: WorkflowInfo): void {
    if (this.#walked.get(workflowId)?.runId === runId) return;
    const around = parent === undefined ? null : { workflowId: parent.workflowId, runId: parent.runId };
    this.#walked.set(workflowId, { workflowId, runId, first: firstExecutionRunId, parent: around });
  }

  /** Whatever hinders the look hinders the write after it, which waits for a store that is away. */
  async isCopy(handle: string): Promise<boolean> {
    const walked = this.#walked.get(workflowIdOf(handle));
    if (walked === undefined) return false;
    return (await this.#find(walked).catch((): Finding => 'unknown')) === 'copy';
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
    const walked = this.#walked.get(id.workflowId);
    const found = await this.#lookUp(walked?.runId === id.runId ? walked : await this.#asked(id));
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

/** An activity whose input has no seal, or that has no input at all, does nothing: no run of this installation asks for it. */
export const sealedSteps: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const findings = input.args.map((arg) => unsealedFinding(arg));
      if (input.args.length > 0 && findings.every((finding) => finding === null)) return next(input);
      const isForAnother = findings.includes('unknown-key') && !findings.includes('not-sealed');
      throw ApplicationFailure.create({
        type: NOT_SEALED,
        message: isForAnother
          ? `${info.activityId}: its input was sealed with a key that this worker does not have: give all workers and clients the same SENTINEL_KEY`
          : `${info.activityId}: its input was not sealed for this step with a key of this installation`,
        // Another worker may have the key.
        nonRetryable: !isForAnother,
      });
    },
  },
});
