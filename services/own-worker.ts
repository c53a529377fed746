/** Which worker a project has, and how a client gets it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig, type Environment } from './config/config.ts';
import { configFileOf } from './config/project-file.ts';
import { isSameProject, projectKey, queueOfProject } from './config/project-queue.ts';
import { readServicesState, type ProjectWorkerState, type ServicesState } from './config/services-state.ts';
import { ServicesError } from './config/services-error.ts';
import { isUpAndAlive } from './processes/process-identity.ts';
import { askForWorker } from './supervisor/project-asks.ts';
import { withKeptSettings } from './supervisor/kept-settings.ts';
import { workerMaxMs } from './supervisor/stop-times.ts';

const POLL_MS = 50;
/** What an editor writes meanwhile is seen. */
const LOOK_AGAIN_MS = 1_000;
/** Beside the steps of the worker before it. */
const START_MAX_MS = 120_000;

export interface OwnWorker {
  project: string;
  key: string;
  taskQueue: string;
  /** Of its configuration. */
  digest: string;
}

/**
 * Null where the worker of the installation serves it: it has no configuration, or SENTINEL_PROJECT names it. Workers of
 * a Temporal elsewhere are started by whoever runs them, so there all projects have one queue.
 */
export function ownWorkerOf(project: string, env: Environment): OwnWorker | null {
  const config = readConfig(env);
  if (config.temporal.isExternal) return null;
  const file = configFileOf(project);
  if (file === null) return null;
  const named = readConfig(withKeptSettings(config.home, env)).project?.folder;
  if (named !== undefined && isSameProject(named, project)) return null;
  const taskQueue = queueOfProject(config.taskQueues[0], project);
  return { project, key: projectKey(project), taskQueue, digest: file.digest };
}

/** Asks for it, and does not wait; for none that is not trusted. */
export async function askForOwnWorker(project: string, env: Environment): Promise<void> {
  const own = ownWorkerOf(project, env);
  if (own !== null) await ask(readConfig(env).home, own).catch(() => undefined);
}

export type Waiting = 'serves' | 'services ended';

/** Resolves once it serves, or once the services have ended; rejects with why it does not start. */
export async function untilOwnWorkerServes(
  project: string,
  env: Environment,
  say: (text: string) => void = () => undefined,
): Promise<Waiting> {
  const config = readConfig(env);
  const { home } = config;
  const began = Date.now();
  let askedFor: string | null = null;
  let lookedAt = 0;
  let own: OwnWorker | null = null;
  for (;;) {
    if (Date.now() - lookedAt > LOOK_AGAIN_MS) {
      lookedAt = Date.now();
      own = ownWorkerOf(project, env);
      // Whoever waits still asks.
      if (askedFor !== null) askForWorker(home, { project });
    }
    if (own === null) return 'serves';
    const state = readServicesState(home);
    const found = state?.workers.find(({ key }) => key === own?.key);
    if (isServing(found, own, state)) {
      askForWorker(home, { project });
      return 'serves';
    }
    if (state?.phase !== 'ready') return 'services ended';
    if (askedFor !== own.digest) {
      askedFor = own.digest;
      await ask(home, own);
    }
    if (found?.failure && found.failure.at >= began) throw new ServicesError(found.failure.message);
    const progress = found?.progress ?? null;
    say(`worker of ${project}: ${progress ?? 'starting'}`);
    if (Date.now() - began > START_MAX_MS + workerMaxMs(config))
      throw new ServicesError(`The worker of ${project} did not start in time: "sentinel doctor" says how it stands.`);
    await sleep(POLL_MS);
  }
}

function isServing(found: ProjectWorkerState | undefined, own: OwnWorker, state: ServicesState | null): boolean {
  if (found === undefined || state?.phase !== 'ready') return false;
  return found.digest === own.digest && found.progress === null && isUpAndAlive(found.process);
}

/** Throws `ConfigError` where its code is not trusted: then nothing is asked for. */
async function ask(home: string, { project, digest }: OwnWorker): Promise<void> {
  const [{ readProjectCode }, { isNamedInEnvironment, refuseUntrusted }] = await Promise.all([
    import('./trust/project-code.ts'),
    import('./trust/trusted-code.ts'),
  ]);
  const path = configFileOf(project)?.path;
  if (path === undefined) return;
  const code = readProjectCode(path);
  refuseUntrusted(code);
  askForWorker(home, { project, digest, trusted: isNamedInEnvironment(code) ? code.digest : null });
}
