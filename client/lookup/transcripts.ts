/** The conversations of a run with models, or that of one step. */
import { conversationsOf, type Transcript } from '../../operations/samples/transcripts.ts';
import { ClientError } from '../../runs/client-error.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { runAt } from './run-at.ts';

export type { Compaction, Transcript } from '../../operations/samples/transcripts.ts';

/** `key` may lead through nested runs: `steps.0@1/steps.2@1`. Throws `STEP_NOT_FOUND` where the step has no conversation. */
export async function transcriptsOf(store: Store, handle: string, key: string | undefined): Promise<Transcript[]> {
  const at = key === undefined ? { handle, key } : ownRun(handle, key);
  const { keys, read } = await conversationsOf(store, at.handle);
  const wanted = at.key === undefined ? keys : keys.filter((one) => one === at.key);
  if (key !== undefined && wanted.length === 0) {
    const known = keys.length === 0 ? 'it has asked no model' : `its conversations are ${keys.join(', ')}`;
    throw new ClientError('STEP_NOT_FOUND', `${at.handle} has no conversation "${at.key}"; ${known}.`);
  }
  return Promise.all(wanted.map((one) => read(one)));
}

function ownRun(handle: string, key: string): { handle: string; key: string } {
  const last = key.lastIndexOf('/');
  return last === -1 ? { handle, key } : { handle: runAt(handle, key.slice(0, last)).handle, key: key.slice(last + 1) };
}
