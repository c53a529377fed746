/**
 * Asks the supervisor for the workers of projects that have something to do and none: a run that waits since before the
 * services stopped, one that a schedule or an event starts, followers, webhooks. The worker of the installation does it
 * for all.
 */
import type { Client } from '@temporalio/client';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Config } from '../../services/config/config.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import { isSameProject, projectKey, queueOfProject } from '../../services/config/project-queue.ts';
import { readServicesState, type ProjectWorkerState } from '../../services/config/services-state.ts';
import { askForWorker, ProjectAsks, type StandingAsk } from '../../services/supervisor/project-asks.ts';
import { WORKFLOW_TYPE } from '../../workflows/messages/messages.ts';
import { BackgroundLoop, rest } from './background-loop.ts';

const LOOK_MS = 2_000;
/** A worker that did not start is asked for again, because what kept it from it may be gone. */
const FAILED_REST_MS = 20_000;

export interface WaitingProjectsParts {
  config: Pick<Config, 'home' | 'project' | 'taskQueues'>;
  client: Pick<Client, 'workflow'>;
  store: Pick<Store, 'runs'>;
}

export class WaitingProjects {
  readonly #parts: WaitingProjectsParts;
  readonly #asks: ProjectAsks;
  readonly #loop: BackgroundLoop;

  constructor(parts: WaitingProjectsParts) {
    this.#parts = parts;
    this.#asks = new ProjectAsks(parts.config.home);
    this.#loop = new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: LOOK_MS });
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { home } = this.#parts.config;
    const state = readServicesState(home);
    // A worker that somebody else keeps leaves the workers of this home alone.
    if (state?.worker?.process?.pid === process.pid) {
      const missing = await this.#missing(state.workers);
      for (const project of missing) askForWorker(home, { project });
    }
    await rest(LOOK_MS, signal);
  }

  async #missing(workers: readonly ProjectWorkerState[]): Promise<Set<string>> {
    const served = new Set(workers.flatMap((worker) => (isServedOrResting(worker) ? [worker.key] : [])));
    const asleep = this.#asks.list().filter(({ key }) => !served.has(key));
    const [atWork, started] = await Promise.all([this.#parts.store.runs.projectsAtWork(), this.#started(asleep)]);
    const known = new Map(asleep.map((ask) => [ask.key, ask.project]));
    const found = atWork.flatMap((project) => {
      const key = projectKey(project);
      if (served.has(key)) return [];
      return known.has(key) || this.#hasOwnConfiguration(project) ? [known.get(key) ?? project] : [];
    });
    return new Set([...found, ...started, ...asleep.flatMap(({ project, stays }) => (stays ? [project] : []))]);
  }

  /** Those on whose queue a run is, which may have no row yet: a schedule starts it, and nobody of ours. */
  async #started(asleep: readonly StandingAsk[]): Promise<string[]> {
    const { client, config } = this.#parts;
    const left = new Map(asleep.map(({ project }) => [queueOfProject(config.taskQueues[0], project), project]));
    const found: string[] = [];
    while (left.size > 0) {
      const queues = [...left.keys()].map((queue) => `'${queue}'`).join(', ');
      const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running' AND TaskQueue IN (${queues})`;
      const next = await firstOf(client.workflow.list({ query, pageSize: 1 }));
      const project = next === null ? undefined : left.get(next.taskQueue);
      if (next === null || project === undefined) break;
      found.push(project);
      left.delete(next.taskQueue);
    }
    return found;
  }

  #hasOwnConfiguration(project: string): boolean {
    const named = this.#parts.config.project?.folder;
    if (named !== undefined && isSameProject(named, project)) return false;
    try {
      return configFileOf(project) !== null;
    } catch {
      // Two files: whoever starts its worker says so.
      return true;
    }
  }
}

function isServedOrResting({ process, progress, failure }: ProjectWorkerState): boolean {
  if (process !== null || progress !== null) return true;
  return failure !== null && Date.now() - failure.at < FAILED_REST_MS;
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | null> {
  for await (const item of items) return item;
  return null;
}
