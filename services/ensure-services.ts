/**
 * What every verb calls that acts, before it needs Temporal or the database. When everything is up, this
 * reads one file, looks at the pids and connects twice: a few milliseconds, no process started. Otherwise
 * it starts a supervisor, which stays, and waits for it.
 *
 * Nothing is changed before the servers that the settings name have answered.
 */
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, type Environment, readConfig, settingsFingerprint } from './config/config.ts';
import { configFileOf } from './config/project-file.ts';
import { logFile, quoteLog } from './home/home-files.ts';
import { ServicesError } from './config/services-error.ts';
import {
  type PostgresState,
  readServicesState,
  type ServicesState,
  type TemporalState,
} from './config/services-state.ts';
import { makeHome } from './home/own-home.ts';
import { accepts, isLoopback, placeOf } from './processes/ports.ts';
import { isUpAndAlive, seemsAlive } from './processes/process-identity.ts';
import type { ProcessLock } from './processes/process-lock.ts';
import { changedSettings, withKeptSettings } from './supervisor/kept-settings.ts';
import { startSupervisor } from './supervisor/start-supervisor.ts';
import { acquireTurn, lockHolder, successorOf } from './supervisor/supervisor-lock.ts';
import { buildStamp } from './supervisor/worker-process.ts';

const POLL_MS = 50;
/** The supervisor bounds each of its own steps; the longest is building the Temporal server. */
const START_MAX_MS = 30 * 60_000;
/** A service that died is started again within seconds; one that stays away this long does not come. */
const RECOVER_MAX_MS = 60_000;
const SUPERVISORS_MAX = 3;

export interface ServicesOptions {
  /** Told what is going on, for a spinner; never called when everything is up. */
  onProgress?: (text: string) => void;
  env?: Environment;
  /** False: only the servers, no background worker. */
  withWorker?: boolean;
  /** True: what `env` tells the worker replaces what it was told before; otherwise that is kept. */
  replacesSettings?: boolean;
  /** One whose own worker is to serve as well, where it has one. */
  project?: string;
  /** The supervisor's program; by default the built one. */
  supervisorProgram?: string;
}

export async function ensureServices(given: ServicesOptions = {}): Promise<ServicesState> {
  const { env = process.env, project, withWorker = true } = given;
  for (;;) {
    const state = await ensureInstallation(given);
    if (project === undefined || !withWorker) return state;
    const { untilOwnWorkerServes } = await import('./own-worker.ts');
    const found = await untilOwnWorkerServes(project, env, sayChanges(given.onProgress));
    if (found === 'serves') return readServicesState(readConfig(env).home) ?? state;
  }
}

/** The servers, and the worker that all projects without a configuration share. */
async function ensureInstallation(given: ServicesOptions): Promise<ServicesState> {
  const { env: own = process.env } = given;
  const { home } = readConfig(own);
  const env = given.replacesSettings === true ? own : withKeptSettings(home, own);
  const config = readConfig(env);
  const withWorker = given.withWorker ?? true;
  const state = readServicesState(config.home);
  if (state !== null && (await areServing(state, config, withWorker))) return state;
  const start = new Start(config, withWorker, { ...given, env });
  try {
    return await start.untilServing();
  } finally {
    start.end();
  }
}

/** One verb's way from services that are not as it wants them to those that are. */
class Start {
  private readonly config: Config;
  private readonly withWorker: boolean;
  private readonly options: ServicesOptions & { env: Environment };
  private readonly began = Date.now();
  private readonly say: (text: string) => void;
  private turn: ProcessLock | null = null;
  private child: { readonly hasEnded: boolean } | null = null;
  private supervisors = 0;
  private waitedSince = Date.now();

  constructor(config: Config, withWorker: boolean, options: ServicesOptions & { env: Environment }) {
    this.config = config;
    this.withWorker = withWorker;
    this.options = options;
    this.say = sayChanges(options.onProgress);
  }

  end(): void {
    this.turn?.release();
  }

  async untilServing(): Promise<ServicesState> {
    const { home } = this.config;
    makeHome(home, this.say);
    for (;;) {
      const state = readServicesState(home);
      const isKept = lockHolder(home) !== null;
      if (state !== null && isKept && (await areServing(state, this.config, this.withWorker))) return state;
      this.refuseFailure(state);
      if (Date.now() - this.began > START_MAX_MS)
        throw new ServicesError(`The services did not start in time; ${this.quoteLog()}`);
      // A supervisor that another verb has sent may wait for the worker's steps, and outlive that verb.
      const isStarting = this.child?.hasEnded === false || successorOf(home) !== null;
      const isOtherwise = state?.phase === 'ready' && !isAsWanted(state, this.config, this.withWorker);
      if (!isStarting && (!isKept || isOtherwise)) await this.startSupervisor(state, isKept);
      else await this.waitFor(state);
      await sleep(POLL_MS);
    }
  }

  /** Of a start with these settings, whoever began it. */
  private refuseFailure(state: ServicesState | null): void {
    const { failure, settings } = state ?? {};
    if (failure && failure.at >= this.began && settings === settingsFingerprint(this.config))
      throw new ServicesError(failure.message);
  }

  private async startSupervisor(state: ServicesState | null, isKept: boolean): Promise<void> {
    if (this.turn === null) {
      this.turn = await acquireTurn(this.config.home);
      // What is to be done is looked at again: it may have been done before the turn came.
      if (this.turn === null) this.say('waiting for another sentinel that is starting the services');
      return;
    }
    await this.askFirst(state);
    this.supervisors += 1;
    if (this.supervisors > SUPERVISORS_MAX)
      throw new ServicesError(`The services' supervisor does not stay; ${this.quoteLog()}`);
    const { env, supervisorProgram: program } = this.options;
    this.say(
      state !== null && isKept
        ? `${changeOf(state, this.config, this.withWorker, env)}; restarting the services`
        : 'starting the services',
    );
    this.child = startSupervisor(this.config, { env, withWorker: this.withWorker, takesOver: isKept, program });
  }

  /** Servers of somebody else's have to answer before one of ours is ended for them. */
  private async askFirst(state: ServicesState | null): Promise<void> {
    const own = ownServerNamed(state, this.config);
    if (own !== null) throw new ServicesError(own);
    await this.refuseUntrusted();
    const { askExternal } = await import('./supervisor/external-services.ts');
    try {
      await askExternal(this.config);
    } catch (error) {
      const finding = error instanceof Error ? error.message : String(error);
      throw new ServicesError(`${finding} Nothing was changed.`, { cause: error });
    }
  }

  /** The worker would not start: whoever waits for it is told why. */
  private async refuseUntrusted(): Promise<void> {
    const { project } = this.config;
    const file = project === null || !this.withWorker ? null : configFileOf(project.folder);
    if (file === null) return;
    const [{ readProjectCode }, { refuseUntrusted }] = await Promise.all([
      import('./trust/project-code.ts'),
      import('./trust/trusted-code.ts'),
    ]);
    refuseUntrusted(readProjectCode(file.path));
  }

  private async waitFor(state: ServicesState | null): Promise<void> {
    if (state?.phase !== 'ready') {
      this.waitedSince = Date.now();
      if (state?.progress) this.say(state.progress);
      return;
    }
    const away = await awayServices(state, this.withWorker);
    if (away.length > 0) this.say(`waiting for ${away.join(', ')} to come back`);
    if (Date.now() - this.waitedSince < RECOVER_MAX_MS) return;
    const logs = away.map((name) => quoteLog(logFile(this.config.home, name))).join('\n');
    throw new ServicesError(`${away.join(', ')} did not come back within ${RECOVER_MAX_MS / 1000} s; ${logs}`);
  }

  private quoteLog(): string {
    return quoteLog(logFile(this.config.home, 'supervisor'));
  }
}

/** An address in the environment is taken for somebody else's: an embedded server would be ended for itself. */
function ownServerNamed(state: ServicesState | null, { temporal, database }: Config): string | null {
  if (temporal.isExternal && isLiving(state?.temporal) && isAt(state.temporal, temporal.address))
    return `TEMPORAL_ADDRESS names ${temporal.address}, which is the embedded Temporal server of these services: unset it, and they use that server by themselves. Nothing was changed.`;
  const folder = database.isExternal && database.url !== null ? new URL(database.url).searchParams.get('host') : null;
  if (folder !== null && isLiving(state?.postgres) && resolve(folder) === dirname(state.postgres.socket ?? ''))
    return `DATABASE_URL names ${folder}, where the embedded Postgres of these services listens: unset it, and they use that database by themselves. Nothing was changed.`;
  return null;
}

function isAt(own: TemporalState, address: string | null): boolean {
  const [, host = '', port] = /^(.*):(\d+)$/.exec(address ?? '') ?? [];
  return isLoopback(host) && Number(port) === own.port;
}

function isLiving<Server extends TemporalState | PostgresState>(own: Server | null | undefined): own is Server {
  return own?.process !== null && own?.process !== undefined && seemsAlive(own.process);
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

function changeOf(state: ServicesState, config: Config, withWorker: boolean, env: Environment): string {
  if (withWorker && state.worker?.build !== buildStamp(config.packageRoot)) return 'the build has changed';
  return changedSettings(config.home, env) ?? 'settings have changed';
}

/** What ought to run here and does not answer. What is external is asked when it is used. */
async function awayServices(state: ServicesState, withWorker: boolean): Promise<string[]> {
  const servers = (['postgres', 'temporal'] as const).map(async (name) => {
    const service = state[name];
    if (service?.isExternal === true) return [];
    const place = service === null ? null : placeOf(service);
    const isUp = service !== null && place !== null && isUpAndAlive(service.process) && (await accepts(place));
    return isUp ? [] : [name];
  });
  const away: string[] = (await Promise.all(servers)).flat();
  if (withWorker && !isUpAndAlive(state.worker?.process ?? null)) away.push('worker');
  return away;
}

function sayChanges(say: ((text: string) => void) | undefined): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== last) say?.(text);
    last = text;
  };
}
