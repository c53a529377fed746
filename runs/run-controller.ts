/** The port through which commands control runs. A run of whose end the store does not know yet is answered for by Temporal. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { RunPort } from '../operations/command.ts';
import { Failure } from '../world/failures/failures.ts';
import { SIGNALS, workflowIdOf, type ControlVerb } from '../workflows/messages/messages.ts';
import { ClientError } from './client-error.ts';
import { cancelRun, updateRun } from './steer-run.ts';

export function runController(client: Client): Pick<RunPort, 'control' | 'wake'> {
  return {
    wake: (handle) => wakeRun(client, handle),
    async control(handle, verb, { reason, id, byModelOf }) {
      try {
        if (verb === 'cancel') {
          await cancelRun(client, handle);
          return { status: 'running', reason: null, ending: true };
        }
        const {
          status,
          reason: held,
          stopping,
        } = await updateRun(client, handle, verb, saidWith(verb, reason, byModelOf), id, byModelOf);
        return { status, reason: held, ending: stopping };
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        if (error.code === 'RUN_ENDED') return null;
        if (error.code === 'HELD_AT_LIMIT' || error.code === 'RIGHTS_EXCEEDED')
          throw new Failure(error.code, error.message.replace(/\.$/, ''));
        throw error;
      }
    },
  };
}

/** A run that has ended needs no waking. */
export async function wakeRun(client: Pick<Client, 'workflow'>, handle: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowIdOf(handle)).signal(SIGNALS.event);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

function saidWith(verb: ControlVerb, reason: string, byModelOf: string | undefined): string | boolean | undefined {
  if (verb === 'pause') return reason;
  return verb === 'resume' && byModelOf !== undefined ? false : undefined;
}
