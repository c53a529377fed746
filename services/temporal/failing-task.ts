/**
 * A run whose workflow task fails again and again. Temporal repeats the task until a mended program takes it, so the
 * run stays as it is and says nothing: only Temporal knows.
 */
import type { WorkflowService } from '@temporalio/client';

/** Fewer may be a worker that was just replaced. */
const FAILED_TIMES = 3;
/** What came after the failure: signals and updates that wait. */
const LOOKED_AT = 50;

export interface FailingTask {
  /** How often it has failed. */
  times: number;
  /** What it said, as it is in Temporal: sealed. */
  failure: { message?: string | null; encodedAttributes?: object | null } | null;
}

/** Null where it goes on, has ended, or waits for a worker. */
export async function failingTask(
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
