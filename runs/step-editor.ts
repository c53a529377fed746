/**
 * The port through which commands see and edit the steps of runs. Temporal knows no difference between a
 * run that has ended and one that never was; the store does.
 */
import type { Client } from '@temporalio/client';
import type { RunPort } from '../operations/command.ts';
import { Failure } from '../world/failures/failures.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { ClientError } from './client-error.ts';
import { editRefusals, editRun, stepsOfRun } from './steer-run.ts';

interface Parts {
  client: Client;
  store: Pick<Store, 'runs'>;
}

export function stepEditor(parts: Parts): Pick<RunPort, 'steps' | 'edit'> {
  const { client } = parts;
  return {
    steps: (handle) => asFailure(parts, handle, () => stepsOfRun(client, handle)),
    edit: (handle, request, id) => asFailure(parts, handle, () => editRun(client, handle, request, id)),
  };
}

const isRefusal = (code: string): boolean => (editRefusals as readonly string[]).includes(code);

async function asFailure<Result>({ store }: Parts, handle: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code !== 'RUN_ENDED')
      throw isRefusal(error.code) ? new Failure(error.code, error.message, { cause: error }) : error;
    if ((await store.runs.find(handle)) !== null) throw new Failure('RUN_ENDED', error.message, { cause: error });
    throw new Failure('RUN_NOT_FOUND', `there is no run "${handle}"; sentinel/list names the runs there are`, {
      cause: error,
    });
  }
}
