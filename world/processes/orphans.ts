/**
 * A shell whose worker dies lives on: nobody can end it from inside. Its successor does. Every
 * child carries its step and its worker in its environment, and so does all that it starts.
 */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { Failure } from '../failures/failures.ts';
import { SHELL_BOUNDS } from './bounds.ts';
import { isLinux } from './process-table.ts';
import { endGroups, findMarked, processStart, type MarkedProcess } from './processes.ts';
import { groupsMarked, markOf, newGroupsMarked } from './step-mark.ts';

export const stepMarker = (handle: string, key: string): string => `${handle}:${key}`;

let ownMarker: Promise<string> | undefined;

/** Marker of this worker process. */
export function workerMarker(): Promise<string> {
  ownMarker ??= processStart(process.pid).then((start) => `${hostname()}:${process.pid}:${start ?? ''}`);
  return ownMarker;
}

/** Ends whatever an earlier attempt of this step left on this host, and waits until it is gone. */
export async function endStep(handle: string, key: string, graceMs: number = SHELL_BOUNDS.graceMs): Promise<void> {
  const left = await endGroups(() => groupsOfStep(handle, key), graceMs);
  if (left.length === 0) return;
  throw new Failure(
    'SHELL_ORPHAN_ALIVE',
    `process group ${left.join(', ')} of an earlier attempt did not end; end it by hand, then retry the step`,
    { retryable: true },
  );
}

/**
 * Ends the steps of workers of this host that are no more; returns their markers. Steps of living
 * workers, and of workers on other hosts, are left alone, and so are processes that are kept: whoever looks after
 * the home in which they are, which may be another, ends those that nobody waits for.
 */
export async function sweepOrphans(graceMs: number = SHELL_BOUNDS.graceMs): Promise<string[]> {
  const orphans = (await findOrphans()).map((marked) => marked.step);
  const steps = new Set(orphans);
  if (steps.size > 0) await endGroups(async () => (await findOrphans()).map((marked) => marked.group), graceMs);
  return [...steps];
}

async function findOrphans(): Promise<MarkedProcess[]> {
  const orphans: MarkedProcess[] = [];
  const isGone = new Map<string, boolean>();
  for (const marked of await findMarked()) {
    const gone = isGone.get(marked.worker) ?? (await isWorkerGone(marked.worker));
    isGone.set(marked.worker, gone);
    const isKept = marked.kept !== '' && existsSync(marked.kept);
    if (gone && !isKept) orphans.push(marked);
  }
  return orphans;
}

/** Only for workers of this host; nobody here can tell of another. `isOfThisHost`: it is, whatever its name was then. */
export async function isWorkerGone(worker: string, { isOfThisHost = false } = {}): Promise<boolean> {
  const match = /^([^:]*):(\d+):([^]*)$/.exec(worker);
  if (match === null || (match[1] !== hostname() && !isOfThisHost)) return false;
  return (await processStart(Number(match[2]))) !== match[3];
}

/** Process groups that carry the step's marker or its mark now. */
export function groupsOfStep(handle: string, key: string): Promise<number[]> {
  return groupsOfSteps([stepMarker(handle, key)]);
}

export async function groupsOfSteps(markers: readonly string[], worker?: string): Promise<number[]> {
  const marked = (await findMarked()).filter(
    (one) => markers.includes(one.step) && (worker === undefined || one.worker === worker),
  );
  return [...marked.map(({ group }) => group), ...(await groupsMarked(markers.map(markOf)))];
}

/** What a step's process left behind, by its mark where there is one; `before`: ids from before it began. */
export async function leftoversOf(marker: string, before: ReadonlySet<string> | null): Promise<number[]> {
  if (!isLinux) return groupsOfSteps([marker]);
  return before === null ? groupsMarked([markOf(marker)]) : newGroupsMarked(markOf(marker), before);
}
