/** Stops the services of a home, also where their supervisor was killed. */
import { type Environment, readConfig } from './config/config.ts';
import { logFile, quoteLog } from './home/home-files.ts';
import { ServicesError } from './config/services-error.ts';
import {
  type ProcessRecord,
  readServicesState,
  type ServicesState,
  writeServicesState,
} from './config/services-state.ts';
import { keptRoot } from '../world/processes/kept/kept-folder.ts';
import { endAllKept } from '../world/processes/kept/kept-processes.ts';
import { LEAVE_SIGNAL } from './processes/end-signals.ts';
import { isGoneWithin, seemsAlive, signalProcess, stopProcess } from './processes/process-identity.ts';
import { dropSettings, withKeptSettings } from './supervisor/kept-settings.ts';
import { forgetTrusted } from './supervisor/project-asks.ts';
import { SERVER_GRACE_MS, stopMaxMs, workerMaxMs } from './supervisor/stop-times.ts';
import { acquireSupervisorLock, lockHolder, successorOf } from './supervisor/supervisor-lock.ts';
import { watchEnding } from './supervisor/worker-process.ts';

const LOOK_MS = 100;

export interface StopOptions {
  env?: Environment;
  /** Told what is waited for. */
  onProgress?: (text: string) => void;
  /** Aborts where steps under way are not to be waited for any longer. */
  hurry?: AbortSignal;
  /** The processes of steps go on, and the next worker takes them over. */
  keepsProcesses?: boolean;
}

/** Returns the names of what was stopped. */
export async function stopServices(options: StopOptions = {}): Promise<string[]> {
  const { env = process.env, keepsProcesses = false } = options;
  const { home } = readConfig(env);
  const { graceMs } = readConfig(withKeptSettings(home, env));
  const running = livingServices(readServicesState(home)).map(({ name }) => name);
  const successor = successorOf(home);
  if (successor !== null) signalProcess(successor, 'SIGTERM');
  const holder = lockHolder(home);
  if (holder !== null) {
    options.onProgress?.('stopping the services');
    // One that is stopping already would take a second signal for haste.
    if (readServicesState(home)?.phase !== 'stopping') signalProcess(holder, keepsProcesses ? LEAVE_SIGNAL : 'SIGTERM');
    const hurry = (): boolean => signalProcess(holder, 'SIGINT');
    options.hurry?.addEventListener('abort', hurry, { once: true });
    const saying = sayProgress(home, options.onProgress);
    const isGone = await isGoneWithin(holder, stopMaxMs({ graceMs })).finally(() => saying.close());
    options.hurry?.removeEventListener('abort', hurry);
    if (!isGone) {
      const seconds = stopMaxMs({ graceMs }) / 1000;
      throw new ServicesError(
        `The services did not stop within ${seconds} s; ${quoteLog(logFile(home, 'supervisor'))}`,
      );
    }
  }
  await stopLeftovers(home, graceMs, options);
  if (!keepsProcesses) await endAllKept(keptRoot(home));
  return running;
}

function sayProgress(home: string, say: ((text: string) => void) | undefined): { close(): void } {
  let said: string | null = null;
  const timer = setInterval(() => {
    const progress = readServicesState(home)?.progress ?? null;
    if (progress !== null && progress !== said) say?.(progress);
    said = progress;
  }, LOOK_MS);
  return { close: () => clearInterval(timer) };
}

async function stopLeftovers(
  home: string,
  graceMs: number,
  { onProgress, hurry, keepsProcesses = false }: StopOptions,
): Promise<void> {
  const state = readServicesState(home);
  if (state === null || livingServices(state).length === 0) return;
  const lock = await acquireSupervisorLock(home);
  if (lock === null) return;
  const looking = watchEnding(logFile(home, 'worker'), (text) => onProgress?.(text));
  try {
    for (const { name, process } of livingServices(state)) {
      const isWorker = name.startsWith('worker');
      const maxMs = isWorker ? workerMaxMs({ graceMs }) : SERVER_GRACE_MS;
      const signal = isWorker && keepsProcesses ? LEAVE_SIGNAL : 'SIGTERM';
      await stopProcess(process, name === 'postgres' ? 'SIGINT' : signal, maxMs, hurry);
    }
    dropSettings(home);
    forgetTrusted(home);
    writeServicesState(home, { ...state, phase: 'stopped', progress: null });
  } finally {
    looking.close();
    lock.release();
  }
}

/** In the order in which they are stopped. */
function livingServices(state: ServicesState | null): { name: string; process: ProcessRecord }[] {
  const projects = (state?.workers ?? []).map(({ project, process }) => ({ name: `worker of ${project}`, process }));
  const others = (['worker', 'temporal', 'postgres'] as const).map((name) => ({
    name,
    process: state?.[name]?.process ?? null,
  }));
  return [...projects, ...others].flatMap(({ name, process }) =>
    process !== null && seemsAlive(process) ? [{ name, process }] : [],
  );
}
