/** What is left on this host of the steps of runs that were ended by force. */
import { SHELL_BOUNDS } from './bounds.ts';
import { isWorkerGone } from './orphans.ts';
import { endGroups, findMarked, type MarkedProcess } from './processes.ts';

/** As far as this host can tell: nobody on it holds what this worker held. */
export const isLeft = async (worker: string): Promise<boolean> => worker === '' || isWorkerGone(worker);

/** Ends the processes of these runs whose workers are no more; returns the steps' markers. Living workers end their own. */
export async function endOrphansOf(
  handles: ReadonlySet<string>,
  graceMs: number = SHELL_BOUNDS.graceMs,
): Promise<string[]> {
  const orphans = await orphansOf(handles);
  if (orphans.length > 0) await endGroups(async () => (await orphansOf(handles)).map(({ group }) => group), graceMs);
  return [...new Set(orphans.map(({ step }) => step))];
}

async function orphansOf(handles: ReadonlySet<string>): Promise<MarkedProcess[]> {
  const marked = (await findMarked()).filter(({ step }) => handles.has(step.slice(0, step.lastIndexOf(':'))));
  const gone = await Promise.all(marked.map(({ worker }) => isWorkerGone(worker)));
  return marked.filter((_, index) => gone[index] === true);
}
