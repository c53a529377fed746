/** Steps of a run that are performed on a queue of their own, and whose turn has not come: only Temporal knows. */
import type { Connection } from '@temporalio/client';
import { connectionOptions, type Config } from '../config/config.ts';
import { pollersOf } from './queue-pollers.ts';

export interface QueuedActivity {
  /** Its key. */
  step: string;
  /** As its system names it. */
  queue: string;
  /** Workers that serve the queue. */
  workers: number;
}

const SCHEDULED = 1;

/** Rejects where Temporal does not answer in time. */
export async function queuedSteps(config: Config, workflowId: string, answerMs: number): Promise<QueuedActivity[]> {
  const { withTemporal } = await import('./temporal-probe.ts');
  return withTemporal(connectionOptions(config), answerMs, (connection) => queuedIn(connection, config, workflowId));
}

async function queuedIn(
  connection: Connection,
  { temporal: { namespace } }: Config,
  workflowId: string,
): Promise<QueuedActivity[]> {
  const { pendingActivities, executionConfig } = await connection.workflowService.describeWorkflowExecution({
    namespace,
    execution: { workflowId },
  });
  const ofRuns = `${executionConfig?.taskQueue?.name ?? ''}/`;
  const waiting = (pendingActivities ?? []).flatMap(({ activityId, state, activityOptions }) => {
    const queue = activityOptions?.taskQueue?.name ?? '';
    return Number(state) === SCHEDULED && queue.startsWith(ofRuns) ? [{ step: activityId ?? '', queue }] : [];
  });
  const served = new Map<string, number>();
  for (const queue of new Set(waiting.map((one) => one.queue)))
    served.set(queue, await pollersOf(connection, namespace, queue, true));
  return waiting.map(({ step, queue }) => ({
    step,
    queue: queue.slice(ofRuns.length),
    workers: served.get(queue) ?? 0,
  }));
}
