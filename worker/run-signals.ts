/** What a worker asks Temporal about runs that are not its own: to look for an event, and whether they still go on. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { AskRun } from '../operations/shell/background.ts';
import { SIGNALS, workflowIdOf } from '../workflows/messages/messages.ts';

/** A run that has ended needs no waking. */
export async function wakeRun(client: Client, handle: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowIdOf(handle)).signal(SIGNALS.event);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

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
