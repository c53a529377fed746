/**
 * Each project with a configuration has a task queue, and a worker, of its own. The queue is named after the project's
 * folder and not after the configuration, so runs under way go on after an edit of it.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';

const labelMax = 40;
/** A regular expression, as JavaScript and Postgres read it: the own queue of a project. */
export const OWN_QUEUE = ':[A-Za-z0-9_.-]*-[0-9a-f]{16}$';

/** The same for all spellings of a folder that is there. */
export function projectKey(project: string): string {
  return createHash('sha256').update(realFolder(project)).digest('hex').slice(0, 16);
}

/** `base`: the queue of projects without a configuration. */
export function queueOfProject(base: string, project: string): string {
  const label = basename(realFolder(project))
    .replaceAll(/[^\w.-]+/g, '-')
    .slice(0, labelMax);
  return `${base}:${label}-${projectKey(project)}`;
}

/** Whether a queue is the own one of a project. */
export const isQueueOfProject = (queue: string): boolean => new RegExp(OWN_QUEUE).test(queue);

export const isSameProject = (one: string, other: string): boolean => realFolder(one) === realFolder(other);

function realFolder(project: string): string {
  try {
    return realpathSync(project);
  } catch {
    return project;
  }
}
