/** The worker of one project, as the supervisor keeps it. */
import { statSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { configFileOf } from '../config/project-file.ts';
import { queueOfProject } from '../config/project-queue.ts';
import type { ProjectWorkerState } from '../config/services-state.ts';
import { ConfigError } from '../home/config-error.ts';
import { logFile } from '../home/home-files.ts';
import { KeptProcess } from '../processes/kept-process.ts';
import { isAlive, stopProcess } from '../processes/process-identity.ts';
import { readProjectCode } from '../trust/project-code.ts';
import { isTrusted, untrustedText } from '../trust/trusted-code.ts';
import type { StandingAsk } from './project-asks.ts';
import { noteLost } from './steps-at-work.ts';
import { workerMaxMs } from './stop-times.ts';
import { buildStamp, hasSaidReady, logNameOf, projectWorkerCommand, watchEnding } from './worker-process.ts';

export const READY_WITHIN_MS = 60_000;
const WAITING = 'waiting until the worker of another project has nothing to do';

export interface ProjectWorkerParts {
  config: Config;
  log: (text: string) => void;
  /** Its steps are not waited for any longer. */
  hurry: AbortSignal;
  /** How a worker is told to end. */
  stopSignal: () => NodeJS.Signals;
  /** It ended, and nobody had asked it to. */
  onDeath: () => void;
  /** Called whenever the state has changed. */
  onChange: () => void;
}

export class ProjectWorker {
  readonly #parts: ProjectWorkerParts;
  readonly #state: ProjectWorkerState;
  #kept: KeptProcess | null = null;
  #changing: Promise<void> | null = null;
  #trusted: string | null = null;
  #waitsSince: number | null = null;
  #isClosing = false;

  /** `recorded`: what a supervisor before this one has left. */
  constructor(parts: ProjectWorkerParts, recorded: Pick<ProjectWorkerState, 'key' | 'project'> | ProjectWorkerState) {
    const { packageRoot, taskQueues } = parts.config;
    this.#parts = parts;
    this.#state = {
      taskQueue: queueOfProject(taskQueues[0], recorded.project),
      digest: null,
      process: null,
      ...recorded,
      build: buildStamp(packageRoot),
      progress: null,
      failure: null,
    };
  }

  get state(): ProjectWorkerState {
    return this.#state;
  }

  get isChanging(): boolean {
    return this.#changing !== null;
  }

  /** There are as many workers as may be. */
  get waits(): boolean {
    return this.#waitsSince !== null;
  }

  /** There is one, or the supervisor is about to start it again. */
  get isKept(): boolean {
    return this.#kept !== null;
  }

  /** Somebody else's processes have been found in the record, and may be adopted. */
  get hasRecorded(): boolean {
    const { process } = this.#state;
    return this.#kept === null && process !== null && isAlive(process);
  }

  start({ project, trusted }: StandingAsk): void {
    this.#change(async () => {
      this.#state.project = project;
      this.#trusted = trusted;
      await this.#launch();
    });
  }

  /** With the configuration as it is now. */
  replace(ask: StandingAsk): void {
    this.#change(async () => {
      await this.#end();
      this.#trusted = ask.trusted;
      await this.#launch();
    });
  }

  end(): void {
    this.#change(() => this.#end());
  }

  /** Started again by the watch over it. */
  restart(): void {
    void this.#kept?.restart();
  }

  /** For another's place; whoever asks is told where that was in vain. */
  wait(atMostMs: number, told: () => string): void {
    this.#waitsSince ??= Date.now();
    if (Date.now() - this.#waitsSince < atMostMs) {
      if (this.#state.progress !== WAITING) this.#say(WAITING);
      return;
    }
    this.#waitsSince = Date.now();
    this.#state.progress = null;
    this.refuse(told());
  }

  refuse(message: string): void {
    this.#state.failure = { message, at: Date.now() };
    this.#parts.onChange();
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#kept?.stop(), this.#changing]);
    await this.#end();
  }

  /** Ends it where it was started here. */
  async leave(): Promise<void> {
    await this.#kept?.leave();
  }

  /** One at a time; a failure is kept for whoever asks. */
  #change(work: () => Promise<void>): void {
    const { log } = this.#parts;
    this.#changing = work()
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        log(`the worker of ${this.#state.project} did not start: ${message}`);
        this.#kept = null;
        this.#state.process = null;
        this.refuse(message);
      })
      .finally(() => {
        this.#changing = null;
        this.#say(null);
      });
  }

  async #launch(): Promise<void> {
    const { config, log: say, hurry, stopSignal, onDeath } = this.#parts;
    const { packageRoot, home } = config;
    if (this.#isClosing) return;
    this.#waitsSince = null;
    const { key, project, build, process: recorded } = this.#state;
    const log = logFile(home, logNameOf(key));
    this.#state.failure = null;
    this.#say('starting');
    this.#kept = new KeptProcess({
      name: `the worker of ${project}`,
      log,
      stopSignal,
      stopGraceMs: workerMaxMs(config),
      hurry,
      readyWithinMs: READY_WITHIN_MS,
      // What keeps it from starting keeps it from starting the next time.
      attempts: 1,
      prepare: () => this.#prepare(),
      command: () => projectWorkerCommand(packageRoot, build, { project, trusted: this.#trusted }),
      answers: async (identity, logFrom) =>
        (recorded?.pid === identity.pid && recorded.status === 'up') || hasSaidReady(log, identity, logFrom),
      restMs: 0,
      onCrash: (identity) => noteLost(home, identity),
      onDeath,
      onChange: (process) => {
        if (process?.status === 'up') this.#state.failure = null;
        this.#state.process = process;
        this.#parts.onChange();
      },
      onLog: say,
    });
    await this.#kept.start(recorded);
  }

  /** What is told to whoever waits, and stands where the services are looked at. */
  async #prepare(): Promise<void> {
    const { project } = this.#state;
    try {
      if (statSync(project, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw new ConfigError(
          `The project ${project} is gone, so its runs wait: put the folder back, or end them with "sentinel cancel".`,
        );
      const file = configFileOf(project);
      if (file !== null) this.#refuseUntrusted(file.path);
      this.#state.digest = file?.digest ?? null;
    } catch (error) {
      this.refuse(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #refuseUntrusted(path: string): void {
    const code = readProjectCode(path);
    if (!isTrusted(code) && this.#trusted !== code.digest) throw new ConfigError(untrustedText(code));
  }

  async #end(): Promise<void> {
    const { config, hurry, stopSignal } = this.#parts;
    const { process: recorded, key } = this.#state;
    const looking = watchEnding(logFile(config.home, logNameOf(key)), (text) => this.#say(text));
    try {
      if (this.#kept !== null) await this.#kept.stop();
      else if (recorded !== null) await stopProcess(recorded, stopSignal(), workerMaxMs(config), hurry);
    } finally {
      looking.close();
    }
    this.#kept = null;
    this.#state.process = null;
    this.#parts.onChange();
  }

  #say(text: string | null): void {
    this.#state.progress = text;
    this.#parts.onChange();
  }
}
