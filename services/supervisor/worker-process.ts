/**
 * The background worker as the supervisor sees it: a program that says on its log, in JSON lines, that it
 * polls, and what it waits for when it is to end. It finds the other services in services.json by itself.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../processes/kept-process.ts';
import { readLogEnd, sizeOf } from '../home/home-files.ts';
import type { ProcessIdentity } from '../config/services-state.ts';

/** Steps that are named of those under way. */
export const STEPS_NAMED_MAX = 5;

const LOOK_MS = 200;
/** How the line of a worker that is to end begins: its keys stand in the order of `Ending`. */
const ENDING_LINE = '{"ending":true,';

export function workerProgram(packageRoot: string): string {
  return join(packageRoot, 'dist', 'worker', 'main.js');
}

/**
 * How Node runs a worker. By itself V8 collects a worker's whole heap each time it has grown by a third,
 * every few runs, and forgets each time the optimized code of what lives no longer than a run; where much
 * is allocated it lets the heap grow to four times its size. So the heap may always double (a worker at rest
 * uses about 35 MB), and what is young has its full room at once, so that less of it is taken for old. And
 * whenever a worker had little to do for some seconds, V8 would collect its heap twice, to give memory back,
 * which forgets most of the optimized code: the next thousand steps would be slow again.
 */
export const WORKER_NODE_FLAGS = [
  '--heap-growing-percent=100',
  '--min-semi-space-size=16',
  '--no-memory-reducer',
] as const;

export function workerCommand(packageRoot: string, build: string): Command {
  return {
    command: process.execPath,
    // The build takes part in the command line, so that a worker of another build is not adopted.
    args: [...WORKER_NODE_FLAGS, workerProgram(packageRoot), `--build=${build}`],
    cwd: packageRoot,
    env: process.env,
  };
}

/** Beside the build, whose worker it is. */
export const PROJECT_FLAG = '--project=';

export interface OwnProject {
  project: string;
  /** The digest of code that may run although nobody on this machine has trusted it. */
  trusted: string | null;
}

export function projectWorkerCommand(packageRoot: string, build: string, { project, trusted }: OwnProject): Command {
  const { args, env, ...rest } = workerCommand(packageRoot, build);
  const named = [env['SENTINEL_TRUST'], trusted].filter((one) => one !== undefined && one !== null && one !== '');
  return {
    ...rest,
    args: [...args, `${PROJECT_FLAG}${project}`],
    env: named.length === 0 ? env : { ...env, SENTINEL_TRUST: named.join(',') },
  };
}

/** What the log of a project's worker is called. */
export const logNameOf = (key: string): string => `worker-${key}`;

/** True when the log holds the ready line of this very process. */
export function hasSaidReady(log: string, { pid }: ProcessIdentity, logFrom: number): boolean {
  return readLogEnd(log, logFrom, 1024 * 1024)
    .split('\n')
    .some((line) => line.includes('"ready":true') && line.includes(`"pid":${pid}`));
}

/** A step that a worker waits for before it ends. */
export interface StepUnderWay {
  handle: string;
  key: string;
}

/** `seconds`: from the signal until the worker has ended, its steps interrupted. */
export interface Ending {
  ending: true;
  pid: number;
  seconds: number;
  steps: StepUnderWay[];
}

/** `waiting for 2 steps, up to 60 s: nightly steps.0@1, build steps.2@7`. */
export function waitingText({ steps, seconds }: Pick<Ending, 'steps' | 'seconds'>): string {
  const named = steps.slice(0, STEPS_NAMED_MAX).map(({ handle, key }) => `${handle} ${key}`);
  const others = steps.length - named.length;
  return `waiting for ${steps.length === 1 ? '1 step' : `${steps.length} steps`}, up to ${seconds} s: ${[...named, ...(others === 0 ? [] : [`and ${others} more`])].join(', ')}`;
}

/** Tells what a worker that is to end waits for, whenever that changes, until it is told to stop looking. */
export function watchEnding(log: string, say: (text: string) => void): { close(): void } {
  const from = sizeOf(log);
  let said = '';
  const look = (): void => {
    // What stands behind the last line end may be half a line.
    const lines = readLogEnd(log, from).split('\n').slice(0, -1);
    const line = lines.findLast((one) => one.startsWith(ENDING_LINE));
    if (line === undefined || line === said) return;
    said = line;
    const ending = JSON.parse(line) as Ending;
    if (ending.steps.length > 0) say(waitingText(ending));
  };
  const timer = setInterval(look, LOOK_MS);
  return { close: () => clearInterval(timer) };
}

/** Names what is in dist/ by its content, which the build writes down: another value means other code. */
export function buildStamp(packageRoot: string): string {
  const file = join(packageRoot, 'dist', 'build-id');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'none';
}
