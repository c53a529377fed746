/** The histories of a run: one, and another for each time it continued as new. */
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import { ClientError } from '../../runs/client-error.ts';

/** One part of a run, between two times it continued as new. */
export interface Part {
  runId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  taskQueue: string;
}

const NOT_FOUND = 5;

const isNotFound = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'WorkflowNotFoundError' || ('code' in error && error.code === NOT_FOUND) || isNotFound(error.cause));

/** Oldest first. Each names the one before it in its first event, so the chain is read from its end. */
export async function partsOf(client: Client, handle: string): Promise<Part[]> {
  return found(handle, async () => {
    const workflowId = workflowIdOf(handle);
    const parts: Part[] = [];
    const { runId: latest } = await client.workflow.getHandle(workflowId).describe();
    for (let runId = latest; runId !== '';) {
      const { continues, ...part } = await firstEventOf(client, workflowId, runId);
      parts.unshift(part);
      runId = continues;
    }
    return parts;
  });
}

async function firstEventOf(client: Client, workflowId: string, runId: string): Promise<Part & { continues: string }> {
  const { namespace } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const first = history?.events?.[0];
  const startedAt = Number(first?.eventTime?.seconds ?? 0) * 1000 + (first?.eventTime?.nanos ?? 0) / 1e6;
  const { continuedExecutionRunId, taskQueue } = first?.workflowExecutionStartedEventAttributes ?? {};
  return { runId, startedAt, taskQueue: taskQueue?.name ?? '', continues: continuedExecutionRunId ?? '' };
}

export function historyOf(client: Client, handle: string, runId: string): Promise<History> {
  return found(handle, () => client.workflow.getHandle(workflowIdOf(handle), runId).fetchHistory());
}

async function found<Result>(handle: string, look: () => Promise<Result>): Promise<Result> {
  try {
    return await look();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const message = `Temporal no longer has the history of ${handle}: its retention time is over. "sentinel trace ${handle}" shows what the store has.`;
    throw new ClientError('HISTORY_MISSING', message, { cause: error });
  }
}
