/**
 * The background worker as the supervisor sees it: a program that says on its log, in one JSON
 * line, that it polls. It finds the other services in services.json by itself.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './kept-process.ts';
import { readLogEnd } from './home-files.ts';
import type { ProcessIdentity } from './services-state.ts';

export function workerProgram(packageRoot: string): string {
  return join(packageRoot, 'dist', 'worker', 'main.js');
}

export function workerCommand(packageRoot: string, build: string): Command {
  return {
    command: process.execPath,
    // The build takes part in the command line, so that a worker of another build is not adopted.
    args: ['--enable-source-maps', workerProgram(packageRoot), `--build=${build}`],
    cwd: packageRoot,
    env: process.env,
  };
}

/** True when the log holds the ready line of this very process. */
export function hasSaidReady(log: string, { pid }: ProcessIdentity, logFrom: number): boolean {
  return readLogEnd(log, logFrom, 1024 * 1024)
    .split('\n')
    .some((line) => line.includes('"ready":true') && line.includes(`"pid":${pid}`));
}

/** Names what is in dist/ by its content, which the build writes down: another value means other code. */
export function buildStamp(packageRoot: string): string {
  const file = join(packageRoot, 'dist', 'build-id');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'none';
}
