/** How the worker of a project stays up: it asks for itself while there is something for it to do. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import { isSameProject } from '../../services/config/project-queue.ts';
import { RENEWED_WITHIN_MS } from '../../services/supervisor/project-workers.ts';
import { askForWorker } from '../../services/supervisor/project-asks.ts';
import { BackgroundLoop, rest } from './background-loop.ts';

const ASKS_A_TERM = 3;

export interface ProjectAsking {
  home: string;
  project: string;
  /** How long a worker that nobody asks for is kept. */
  idleMs: number;
  /** It follows events, or receives webhooks: it is never done. */
  stays: boolean;
  receives: boolean;
  store: Pick<Store, 'runs'>;
}

export function keepAsking({ home, project, idleMs, stays, receives, store }: ProjectAsking): BackgroundLoop {
  const everyMs = Math.min(RENEWED_WITHIN_MS, idleMs) / ASKS_A_TERM;
  // What it needs from now on is written down before it is known whether it is at work.
  const ask = (): void => askForWorker(home, { project, stays, receives });
  ask();
  return new BackgroundLoop({
    turn: async (signal) => {
      await rest(everyMs, signal);
      if (!signal.aborted && (stays || (await isAtWork(store, project)))) ask();
    },
    retryMs: everyMs,
  });
}

/** Where the store does not answer, nobody can tell that it is done. */
async function isAtWork(store: Pick<Store, 'runs'>, project: string): Promise<boolean> {
  const projects = await store.runs.projectsAtWork().catch(() => [project]);
  return projects.some((one) => isSameProject(one, project));
}
