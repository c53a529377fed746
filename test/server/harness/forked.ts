/** A fork of a run of the harness, as the command line makes one. */
import { forkRun, type Fork, type ForkRequest } from '../../../client/history/fork-run.ts';
import { catalogue } from '../../catalogue.ts';
import type { ItemsAsked } from '../../../client/history/ended-lists.ts';
import { retryPlace } from '../../../client/history/retry-place.ts';
import type { Harness } from './harness.ts';
import { defined } from '../../../language/defined.ts';

/** `bundle`: the workflow code, which walks the old history again. */
export async function forkOf(harness: Harness, bundle: { code: string }, request: ForkRequest): Promise<Fork> {
  const { store, client, taskQueue } = harness;
  return forkRun({ store, client, catalogue, taskQueue }, bundle, request, await harness.events(request.handle));
}

/** A retry of a run of the harness, as the command line makes one. */
export async function retryOf(
  harness: Harness,
  bundle: { code: string },
  handle: string,
  { at, items, ...more }: Partial<ForkRequest> & { items?: ItemsAsked } = {},
): Promise<Fork> {
  const run = await harness.store.runs.find(handle);
  if (run === null) throw new Error(`no run ${handle}`);
  const { others: _others, ...place } = retryPlace(run, await harness.events(handle), defined({ at, items }));
  return forkOf(harness, bundle, { ...more, handle, ...place });
}
