/** What a run changed in its project, and taking it back: on the host where the project and its states lie. */
import { changesOf, type StepChanges } from '../activities/checkpoints/changes.ts';
import { nameWithin } from '../activities/checkpoints/stretches.ts';
import { undoRun, type Undone, type UndoRequest } from '../activities/checkpoints/undo.ts';
import { Failure } from '../activities/failures/failures.ts';
import type { Run, Store } from '../prisma/store/contract/contract.ts';
import { ClientError } from '../runs/client-error.ts';

export async function changesOfRun(
  store: Store,
  handle: string,
  { key, patches = false }: { key?: string; patches?: boolean },
): Promise<StepChanges[]> {
  return saying(() => changesOf(store.checkpoints, { handle, key, patches }));
}

export async function undoRunOf(
  store: Store,
  { handle, status }: Run,
  options: Omit<UndoRequest, 'handle'>,
): Promise<Undone> {
  if (options.dryRun !== true) await refuseWhileWriting(store, handle, status);
  return saying(() => undoRun(store.checkpoints, { handle, ...options }));
}

/** What a run writes at the same time would be taken for somebody else's, or overwritten. */
async function refuseWhileWriting(store: Store, handle: string, status: Run['status']): Promise<void> {
  if (status === 'running')
    throw new ClientError(
      'UNDO_REFUSED',
      `${handle} is running and may write at any moment: hold it with "sentinel pause ${handle}", or end it with "sentinel stop ${handle}", and say this again.`,
    );
  if (status !== 'paused') return;
  const open = (await store.checkpoints.ofRun(handle)).find(
    ({ key, before, after }) => before !== null && after === null && !key.startsWith('undo-'),
  );
  if (open === undefined) return;
  throw new ClientError(
    'UNDO_REFUSED',
    `${handle} is paused, but its step ${nameWithin(handle, open)} is still under way: wait for its end, or end the run with "sentinel cancel ${handle}".`,
  );
}

async function saying<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Failure) throw new ClientError('UNDO_REFUSED', `${error.message}.`, { cause: error });
    throw error;
  }
}
