/** What a run changed in its project, and taking it back: on the host where the project and its states lie. */
import { changesOf, type StepChanges } from '../operations/checkpoints/changes.ts';
import { isKey, maskerOf } from '../world/own-keys/own-keys.ts';
import type { Masker } from '../language/masking/masker.ts';
import { hiddenOf, looksSecret, nameOfToken } from '../language/secrets.ts';
import { nameWithin } from '../operations/checkpoints/stretches.ts';
import type { Undone, UndoRequest } from '../operations/checkpoints/undo.ts';
import { undoRun } from '../operations/checkpoints/undo-run.ts';
import { Failure } from '../world/failures/failures.ts';
import type { Run, Store } from '../prisma/store/contract/contract.ts';
import { ClientError } from '../runs/client-error.ts';

export async function changesOfRun(
  store: Store,
  handle: string,
  { key, patches = false }: { key?: string; patches?: boolean },
): Promise<StepChanges[]> {
  const changes = await saying(() => changesOf(store.checkpoints, { handle, key, patches }));
  return (await maskerOfRun(store, handle)).json(changes);
}

export async function undoRunOf(
  store: Store,
  { handle, status }: Run,
  options: Omit<UndoRequest, 'handle'>,
): Promise<Undone> {
  if (options.dryRun !== true) await refuseWhileWriting(store, handle, status);
  const undone = await saying(() => undoRun(store.checkpoints, { handle, ...options }));
  return (await maskerOfRun(store, handle)).json(undone);
}

/** Of the secrets of the run, as long as they are kept, and of those that are set here. */
async function maskerOfRun({ secrets }: Store, handle: string): Promise<Masker> {
  const values = await secrets.find(await secrets.tokensOf(handle));
  const listed = Object.fromEntries([...values].map(([token, value]) => [nameOfToken(token), value]));
  return maskerOf(hiddenOf({ ...secretsSetHere(), ...listed }));
}

const secretsSetHere = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = '']) =>
      looksSecret(name) && isKey(value) ? [[name, value]] : [],
    ),
  );

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
