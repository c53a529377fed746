/** The port through which commands see and edit the steps of runs. */
import type { Client } from '@temporalio/client';
import type { RunStarter } from '../activities/commands/command.ts';
import { Failure } from '../activities/failures.ts';
import { ClientError } from './client-error.ts';
import { editRefusals, editRun, stepsOfRun } from './steer-run.ts';

export function stepEditor(client: Client): Pick<RunStarter, 'steps' | 'edit'> {
  return {
    steps: (handle) => asFailure(handle, () => stepsOfRun(client, handle)),
    edit: (handle, request, id) => asFailure(handle, () => editRun(client, handle, request, id)),
  };
}

const isRefusal = (code: string): boolean => (editRefusals as readonly string[]).includes(code);

async function asFailure<Result>(handle: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === 'RUN_ENDED') throw new Failure('RUN_NOT_FOUND', `no run "${handle}" is under way: ${error.message}`, { cause: error });
    throw isRefusal(error.code) ? new Failure(error.code, error.message, { cause: error }) : error;
  }
}
