/** Starts the supervisor's program (supervisor-process.ts), which outlives whoever starts it. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, type Environment, withAbsolutePaths } from '../config/config.ts';
import { logFile, makeFolders, openLog } from '../home/home-files.ts';

export const SERVERS_ONLY = '--servers-only';
/** It asks the supervisor that is there to hand over, and waits for it. */
export const TAKE_OVER = '--take-over';

export interface SupervisorStart {
  env: Environment;
  withWorker: boolean;
  takesOver: boolean;
  /** By default the built one. */
  program?: string | undefined;
}

export function startSupervisor(config: Config, start: SupervisorStart): { readonly hasEnded: boolean } {
  const { program = join(config.packageRoot, 'dist', 'services', 'supervisor', 'supervisor-process.js') } = start;
  const flags = [...(start.withWorker ? [] : [SERVERS_ONLY]), ...(start.takesOver ? [TAKE_OVER] : [])];
  makeFolders(config.home);
  const output = openLog(logFile(config.home, 'supervisor'));
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...flags], {
    cwd: config.home,
    detached: true,
    env: withoutStepMarkers(withAbsolutePaths(start.env)),
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const watched = { hasEnded: false };
  const ended = () => (watched.hasEnded = true);
  child.once('exit', ended);
  child.once('error', ended);
  child.unref();
  return watched;
}

/** Services that a step starts are not part of the step: without its marks they do not end with it. */
function withoutStepMarkers(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== 'SENTINEL_STEP' && name !== 'SENTINEL_WORKER'),
  );
}
