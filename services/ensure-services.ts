/**
 * What every verb calls before it needs Temporal or the database. When everything is up, this reads
 * one file, looks at the pids and connects twice: a few milliseconds, no process started. Otherwise
 * it starts a supervisor, which stays, and waits for it.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, type Environment, readConfig, settingsFingerprint } from './config/config.ts';
import { logFile, openLog, quoteLog } from './config/home-files.ts';
import { changedSettings, dropSettings, withKeptSettings } from './supervisor/kept-settings.ts';
import { accepts, LOOPBACK } from './processes/ports.ts';
import { isGoneWithin, seemsAlive, signalProcess, stopProcess } from './processes/process-identity.ts';
import {
  type ProcessRecord,
  readServicesState,
  type ServicesState,
  writeServicesState,
} from './config/services-state.ts';
import { acquireSupervisorLock, lockHolder } from './supervisor/supervisor-lock.ts';
import { buildStamp } from './supervisor/worker-process.ts';

const POLL_MS = 50;
/** The supervisor bounds each of its own steps; the longest is building the Temporal server. */
const START_MAX_MS = 30 * 60_000;
/** A service that died is started again within seconds; one that stays away this long does not come. */
const RECOVER_MAX_MS = 60_000;
const STOP_MAX_MS = 120_000;
const SUPERVISORS_MAX = 3;

export interface ServicesOptions {
  /** Told what is going on, for a spinner; never called when everything is up. */
  onProgress?: (text: string) => void;
  env?: Environment;
  /** False: only the servers, no background worker. */
  withWorker?: boolean;
  /** True: what `env` tells the worker replaces what it was told before; otherwise that is kept. */
  replacesSettings?: boolean;
  /** The supervisor's program; by default the built one. */
  supervisorProgram?: string;
}

/** The services could not be started or stopped; the message quotes the log that tells why. */
export class ServicesError extends Error {
  override readonly name = 'ServicesError';
}

export async function ensureServices(given: ServicesOptions = {}): Promise<ServicesState> {
  const { env: own = process.env } = given;
  const { home } = readConfig(own);
  const env = given.replacesSettings === true ? own : withKeptSettings(home, own);
  const options = { ...given, env };
  const config = readConfig(env);
  const withWorker = options.withWorker ?? true;
  const state = readServicesState(config.home);
  if (state !== null && (await areServing(state, config, withWorker))) return state;
  return await startAndWait(config, withWorker, options);
}

/** Stops what runs, also when its supervisor was killed. Returns the names of what was stopped. */
export async function stopServices(options: Pick<ServicesOptions, 'env' | 'onProgress'> = {}): Promise<string[]> {
  const { home } = readConfig(options.env);
  const running = livingServices(readServicesState(home)).map(({ name }) => name);
  const holder = lockHolder(home);
  if (holder !== null) {
    options.onProgress?.('stopping the services');
    signalProcess(holder, 'SIGTERM');
    if (!(await isGoneWithin(holder, STOP_MAX_MS))) {
      throw new ServicesError(
        `The services did not stop within ${STOP_MAX_MS / 1000} s; ${quoteLog(logFile(home, 'supervisor'))}`,
      );
    }
  }
  await stopLeftovers(home);
  return running;
}

async function stopLeftovers(home: string): Promise<void> {
  const state = readServicesState(home);
  if (state === null || livingServices(state).length === 0) return;
  const lock = await acquireSupervisorLock(home);
  if (lock === null) return;
  try {
    for (const { name, process } of livingServices(state)) {
      await stopProcess(process, name === 'postgres' ? 'SIGINT' : 'SIGTERM', 30_000);
    }
    dropSettings(home);
    writeServicesState(home, { ...state, phase: 'stopped', progress: null });
  } finally {
    lock.release();
  }
}

/** In the order in which they are stopped. */
function livingServices(state: ServicesState | null): { name: string; process: ProcessRecord }[] {
  return (['worker', 'temporal', 'postgres'] as const).flatMap((name) => {
    const process = state?.[name]?.process ?? null;
    return process !== null && seemsAlive(process) ? [{ name, process }] : [];
  });
}

async function startAndWait(config: Config, withWorker: boolean, options: ServicesOptions): Promise<ServicesState> {
  const began = Date.now();
  const log = logFile(config.home, 'supervisor');
  const say = sayChanges(options.onProgress);
  let child: { hasEnded: boolean } | null = null;
  let supervisors = 0;
  let waitedSince = began;
  for (;;) {
    const state = readServicesState(config.home);
    const holder = lockHolder(config.home);
    if (state !== null && holder !== null && (await areServing(state, config, withWorker))) return state;
    if (state?.failure && state.failure.at >= began) throw new ServicesError(state.failure.message);
    if (Date.now() - began > START_MAX_MS)
      throw new ServicesError(`The services did not start in time; ${quoteLog(log)}`);
    if (holder === null && (child === null || child.hasEnded)) {
      supervisors += 1;
      if (supervisors > SUPERVISORS_MAX)
        throw new ServicesError(`The services' supervisor does not stay; ${quoteLog(log)}`);
      say('starting the services');
      child = startSupervisor(config, withWorker, options);
    } else if (holder !== null && state?.phase === 'ready' && !isAsWanted(state, config, withWorker)) {
      say(`${changeOf(state, config, withWorker, options.env)}; starting the services anew`);
      signalProcess(holder, 'SIGHUP');
      if (!(await isGoneWithin(holder, STOP_MAX_MS)))
        throw new ServicesError(`The old supervisor does not end; ${quoteLog(log)}`);
    } else if (state?.phase !== 'ready') {
      waitedSince = Date.now();
      if (state?.progress) say(state.progress);
    } else {
      const away = await awayServices(state, withWorker);
      say(`waiting for ${away.join(', ')} to come back`);
      if (Date.now() - waitedSince > RECOVER_MAX_MS) {
        const logs = away.map((name) => quoteLog(logFile(config.home, name))).join('\n');
        throw new ServicesError(`${away.join(', ')} did not come back within ${RECOVER_MAX_MS / 1000} s; ${logs}`);
      }
    }
    await sleep(POLL_MS);
  }
}

function startSupervisor(config: Config, withWorker: boolean, options: ServicesOptions): { hasEnded: boolean } {
  const program =
    options.supervisorProgram ?? join(config.packageRoot, 'dist', 'services', 'supervisor', 'supervisor-process.js');
  mkdirSync(config.home, { recursive: true });
  const output = openLog(logFile(config.home, 'supervisor'));
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...(withWorker ? [] : ['--servers-only'])], {
    cwd: config.home,
    detached: true,
    env: withoutStepMarkers(options.env ?? process.env),
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

async function areServing(state: ServicesState, config: Config, withWorker: boolean): Promise<boolean> {
  return (
    state.phase === 'ready' &&
    seemsAlive(state.supervisor) &&
    isAsWanted(state, config, withWorker) &&
    (await awayServices(state, withWorker)).length === 0
  );
}

function isAsWanted(state: ServicesState, config: Config, withWorker: boolean): boolean {
  if (state.settings !== settingsFingerprint(config)) return false;
  return !withWorker || state.worker?.build === buildStamp(config.packageRoot);
}

function changeOf(state: ServicesState, config: Config, withWorker: boolean, env: Environment = process.env): string {
  if (withWorker && state.worker?.build !== buildStamp(config.packageRoot)) return 'the build has changed';
  return changedSettings(config.home, env) ?? 'settings have changed';
}

/** What ought to run here and does not answer. What is external is asked when it is used. */
async function awayServices(state: ServicesState, withWorker: boolean): Promise<string[]> {
  const servers = (['postgres', 'temporal'] as const).map(async (name) => {
    const service = state[name];
    if (service?.isExternal === true) return [];
    const isUp =
      service !== null &&
      isUpAndAlive(service.process) &&
      service.port !== null &&
      (await accepts(LOOPBACK, service.port));
    return isUp ? [] : [name];
  });
  const away: string[] = (await Promise.all(servers)).flat();
  if (withWorker && !isUpAndAlive(state.worker?.process ?? null)) away.push('worker');
  return away;
}

function isUpAndAlive(process: ProcessRecord | null): boolean {
  return process !== null && process.status === 'up' && seemsAlive(process);
}

function sayChanges(say: ((text: string) => void) | undefined): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== last) say?.(text);
    last = text;
  };
}

/** Services that a step starts are not part of the step: without its marks they do not end with it. */
function withoutStepMarkers(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== 'SENTINEL_STEP' && name !== 'SENTINEL_WORKER'),
  );
}
