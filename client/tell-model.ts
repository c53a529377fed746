/** Telling the model of a step that is under way something, in a run or in one nested in it. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Store } from '../prisma/store/contract/contract.ts';
import { ClientError } from '../runs/client-error.ts';
import { stateOfRun, tellRun } from '../runs/steer-run.ts';
import type { TellOptions, ToldModel } from './contract/requests.ts';
import { runAt } from './lookup/run-at.ts';
import { defined } from '../language/defined.ts';

export function stepWithin(handle: string, step: string | undefined): { handle: string; step?: string } {
  if (step === undefined) return { handle };
  const last = step.lastIndexOf('/');
  return last === -1
    ? { handle, step }
    : { handle: runAt(handle, step.slice(0, last)).handle, step: step.slice(last + 1) };
}

interface Parts {
  store: Store;
  client: Client;
}

export async function tellModel(
  { store, client }: Parts,
  at: { handle: string; step?: string },
  text: string,
  { by, id = randomUUID() }: TellOptions,
): Promise<ToldModel> {
  const tell = async ({ handle, step }: typeof at): Promise<ToldModel> => ({
    handle,
    ...(await tellRun(client, handle, { id, text, by, ...defined({ step }) })),
  });
  try {
    return await tell(at);
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'NO_MODEL_STEP' || at.step !== undefined) throw error;
    return tell(await onlyModelBelow({ store, client }, at.handle, error));
  }
}

/** The one model step that is under way in the runs nested in a run that is at none itself. */
async function onlyModelBelow(
  { store, client }: Parts,
  handle: string,
  refusal: ClientError,
): Promise<{ handle: string; step: string }> {
  const modelsOf = async (of: string): Promise<{ handle: string; step: string }[]> =>
    (await stateOfRun(client, of)).models.map((step) => ({ handle: of, step }));
  if ((await modelsOf(handle)).length > 0) throw refusal;
  const below = await store.runs.underWayBelow(handle);
  // One that ended meanwhile, or that no worker serves, is at none.
  const found = (await Promise.all(below.map((of) => modelsOf(of).catch(() => [])))).flat();
  const [only, ...others] = found;
  if (only === undefined) throw refusal;
  if (others.length === 0) return only;
  const steps = found.map(({ handle: of, step }) => `${of.slice(handle.length + 1)}/${step}`).join(', ');
  throw new ClientError(
    'NO_MODEL_STEP',
    `Runs nested in ${handle} are at several model steps; say which one with --step: ${steps}.`,
  );
}
