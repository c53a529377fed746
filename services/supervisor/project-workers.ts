/**
 * The workers of projects: one for each project that somebody asks for one (project-asks.ts), started when it is asked
 * for and ended when nobody has asked for a while. Where as many are up as may be, one that nobody has asked for lately
 * ends for the next.
 */
import { configFileOf } from '../config/project-file.ts';
import type { ProjectWorkerState } from '../config/services-state.ts';
import { ProjectAsks, type StandingAsk } from './project-asks.ts';
import { ProjectWorker, type ProjectWorkerParts } from './project-worker.ts';

const LOOK_MS = 200;
/** What a worker without steps takes to end. */
const ENDS_WITHIN_MS = 5_000;
/** A worker that is at work asks for itself more often than this. */
export const RENEWED_WITHIN_MS = 60_000;

export interface ProjectWorkersParts extends ProjectWorkerParts {
  recorded: readonly ProjectWorkerState[];
  /** False: those that are recorded were started with other settings. */
  isCurrent: boolean;
}

export class ProjectWorkers {
  readonly #parts: ProjectWorkersParts;
  readonly #workers = new Map<string, ProjectWorker>();
  readonly #asks: ProjectAsks;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ProjectWorkersParts) {
    this.#parts = parts;
    this.#asks = new ProjectAsks(parts.config.home);
    for (const one of parts.recorded) this.#workers.set(one.key, new ProjectWorker(parts, one));
  }

  get states(): ProjectWorkerState[] {
    return Array.from(this.#workers.values(), ({ state }) => state);
  }

  /** From here on it looks who asks. */
  open(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.close()));
  }

  /** Ends those that were started here. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.leave()));
  }

  /** The servers are elsewhere now. */
  restart(): void {
    for (const worker of this.#workers.values()) worker.restart();
  }

  #look(): void {
    const asks = this.#asks.list();
    for (const ask of asks) {
      try {
        this.#settle(ask, asks);
      } catch (error) {
        this.#workerOf(ask).refuse(error instanceof Error ? error.message : String(error));
      }
    }
  }

  #settle(ask: StandingAsk, asks: readonly StandingAsk[]): void {
    const worker = this.#workers.get(ask.key);
    if (worker?.isChanging === true) return;
    if (!this.#isWanted(ask)) return this.#rest(worker);
    if (worker?.isKept === true) {
      if (isOutdated(ask, worker)) worker.replace(ask);
      return;
    }
    if (worker?.hasRecorded === true) return this.#parts.isCurrent ? worker.start(ask) : worker.end();
    const { failure } = worker?.state ?? {};
    const isTold = failure !== null && failure !== undefined && ask.at <= failure.at;
    if (isTold && worker?.waits !== true) return;
    if (this.#hasRoom(asks)) this.#workerOf(ask).start(ask);
    else if (!isTold) this.#workerOf(ask).wait(this.#termMs + ENDS_WITHIN_MS, () => this.#fullText(ask));
  }

  /** Within it, a worker that is at work has asked for itself. */
  get #termMs(): number {
    return Math.min(RENEWED_WITHIN_MS, this.#parts.config.projectWorkers.idleMs);
  }

  #isWanted({ at, stays }: StandingAsk): boolean {
    return stays || Date.now() - at < this.#parts.config.projectWorkers.idleMs;
  }

  #rest(worker: ProjectWorker | undefined): void {
    if (worker === undefined) return;
    if (worker.isKept || worker.hasRecorded) return worker.end();
    this.#workers.delete(worker.state.key);
    this.#parts.onChange();
  }

  /** Makes some where a worker has nothing to do; then the next look finds it. */
  #hasRoom(asks: readonly StandingAsk[]): boolean {
    const up = [...this.#workers.values()].filter((worker) => worker.isKept || worker.isChanging || worker.hasRecorded);
    if (up.length < this.#parts.config.projectWorkers.max) return true;
    if (up.some((worker) => worker.isChanging && !worker.isKept)) return false;
    const resting = asks
      .filter(({ stays, at }) => !stays && Date.now() - at > this.#termMs)
      .toSorted((one, other) => one.at - other.at)
      .flatMap(({ key }) => up.find(({ state }) => state.key === key) ?? [])
      .find((worker) => !worker.isChanging);
    resting?.end();
    return false;
  }

  #fullText({ project }: StandingAsk): string {
    const { max } = this.#parts.config.projectWorkers;
    const others = this.states.filter(({ process }) => process !== null).map((state) => state.project);
    return `${project} has no worker: ${max} projects have one, as many as may be (SENTINEL_PROJECT_WORKERS): ${others.join(', ')}. Wait until one of them has nothing to do, or set a larger number and run "sentinel up".`;
  }

  #workerOf({ key, project }: StandingAsk): ProjectWorker {
    const worker = this.#workers.get(key) ?? new ProjectWorker(this.#parts, { key, project });
    this.#workers.set(key, worker);
    return worker;
  }
}

/** Whoever asks has seen another configuration than the worker has, and it is the one that is there. */
function isOutdated({ digest, project }: StandingAsk, { state }: ProjectWorker): boolean {
  return digest !== null && digest !== state.digest && configFileOf(project)?.digest === digest;
}
