/** A fork of a run of the harness, as the command line makes one. */
import { forkRun, type Fork, type ForkRequest } from '../../../client/history/fork-run.ts';
import { catalogue } from '../../catalogue.ts';
import type { Harness } from './harness.ts';

/** `bundle`: the workflow code, which walks the old history again. */
export async function forkOf(harness: Harness, bundle: { code: string }, request: ForkRequest): Promise<Fork> {
  const { store, client, taskQueue } = harness;
  return forkRun({ store, client, catalogue, taskQueue }, bundle, request, await harness.events(request.handle));
}
