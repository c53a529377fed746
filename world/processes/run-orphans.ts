/** What is left on this host of the steps of runs that were ended by force. */
import { SHELL_BOUNDS } from './bounds.ts';
import { isWorkerGone, stepMarker } from './orphans.ts';
import { endGroups, findMarked, type MarkedProcess } from './processes.ts';
import { groupsMarked, markOf } from './step-mark.ts';

interface Held {
  handle: string;
  key: string;
  worker: string;
}

/** As far as this host can tell: nobody on it holds what this worker held. */
export const isLeft = async ({ worker }: Pick<Held, 'worker'>): Promise<boolean> =>
  worker === '' || isWorkerGone(worker);

/**
 * Ends the processes of these runs whose workers are no more, and of the executions that such a worker held;
 * returns the steps' markers. Living workers end their own.
 */
export async function endOrphansOf(
  handles: ReadonlySet<string>,
  left: readonly Held[],
  graceMs: number = SHELL_BOUNDS.graceMs,
): Promise<string[]> {
  const orphans = await orphansOf(handles);
  const steps = [
    ...new Set([...orphans.map(({ step }) => step), ...left.map(({ handle, key }) => stepMarker(handle, key))]),
  ];
  const groups = async (): Promise<number[]> => [
    ...(await orphansOf(handles)).map(({ group }) => group),
    ...(await groupsMarked(steps.map((step) => markOf(step)))),
  ];
  if (steps.length > 0) await endGroups(groups, graceMs);
  return steps;
}

async function orphansOf(handles: ReadonlySet<string>): Promise<MarkedProcess[]> {
  const marked = (await findMarked()).filter(({ step }) => handles.has(step.slice(0, step.lastIndexOf(':'))));
  const gone = await Promise.all(marked.map(({ worker }) => isWorkerGone(worker)));
  return marked.filter((_, index) => gone[index] === true);
}
