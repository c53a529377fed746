/**
 * A run whose workflow task fails again and again. Temporal repeats the task until a mended program takes it, so the
 * run stays as it is and says nothing: only Temporal knows.
 */
import type { WorkflowService } from '@temporalio/client';
import { connectionOptions, type Config } from '../config/config.ts';

/** Fewer may be a worker that was just replaced. */
const FAILED_TIMES = 3;
/** What came after the failure: signals and updates that wait. */
const LOOKED_AT = 50;
const AT_ONCE = 10;

export interface FailingTask {
  /** How often it has failed. */
  times: number;
  /** What it said, as it is in Temporal: sealed. */
  failure: { message?: string | null; encodedAttributes?: object | null } | null;
}

/** Of these workflows, by their ids. Rejects where Temporal does not answer in time. */
export async function failingTasks(
  config: Config,
  workflowIds: readonly string[],
  answerMs: number,
): Promise<Map<string, FailingTask>> {
  const { withTemporal } = await import('./temporal-probe.ts');
  const found = new Map<string, FailingTask>();
  await withTemporal(connectionOptions(config), answerMs, async ({ workflowService }) => {
    const waiting = workflowIds.values();
    const look = async (): Promise<void> => {
      for (const id of waiting) {
        const task = await failingTask(workflowService, config.temporal.namespace, id).catch(() => null);
        if (task !== null) found.set(id, task);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, look));
  });
  return found;
}

/** Null where it goes on, has ended, or waits for a worker. */
async function failingTask(
  service: Pick<WorkflowService, 'describeWorkflowExecution' | 'getWorkflowExecutionHistoryReverse'>,
  namespace: string,
  workflowId: string,
): Promise<FailingTask | null> {
  const execution = { workflowId };
  const { pendingWorkflowTask: task } = await service.describeWorkflowExecution({ namespace, execution });
  const times = (task?.attempt ?? 1) - 1;
  if (times < FAILED_TIMES) return null;
  const asked = { namespace, execution, maximumPageSize: LOOKED_AT };
  const { history } = await service.getWorkflowExecutionHistoryReverse(asked);
  for (const event of history?.events ?? []) {
    if (event.workflowTaskCompletedEventAttributes) return null;
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed) return { times, failure: failed.failure ?? null };
  }
  return null;
}
