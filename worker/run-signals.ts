/** What a worker asks Temporal about runs that are not its own: whether they still go on. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { IsAwaited } from '../world/processes/kept/kept-processes.ts';
import type { AskRun } from '../operations/shell/background.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { SEGMENT } from '../interpreter/contract.ts';
import { workflowIdOf } from '../workflows/messages/messages.ts';

export function askRunOf(client: Client): AskRun {
  return async (handle) => {
    try {
      const { status } = await client.workflow.getHandle(workflowIdOf(handle)).describe();
      return status.name === 'RUNNING' || status.name === 'PAUSED' || status.name === 'CONTINUED_AS_NEW';
    } catch (error) {
      return error instanceof WorkflowNotFoundError ? false : null;
    }
  };
}

/** Whether a run waits for the result of a step, or of one that an activity of it performs; null where Temporal does not answer. */
export function askStepOf(client: Client, { events }: Pick<Store, 'events'>): IsAwaited {
  return async (handle, key) => {
    try {
      const { status, raw } = await client.workflow.getHandle(workflowIdOf(handle)).describe();
      if (status.name !== 'RUNNING' && status.name !== 'PAUSED') return false;
      const pending = raw.pendingActivities ?? [];
      // A segment may be at it, or about to go on with it.
      if (raw.pendingWorkflowTask || pending.some(({ activityType }) => activityType?.name === SEGMENT)) return true;
      const ids = pending.map(({ activityId }) => activityId ?? '');
      if (ids.some((id) => id === key || key.startsWith(`${id}/`))) return true;
      // Between a segment that has left a step and the step's activity a run may wait for a timer, or for the server.
      return await events.isUnderWay(handle, key);
    } catch (error) {
      return error instanceof WorkflowNotFoundError ? false : null;
    }
  };
}
