/**
 * Watches over a worker from a thread (watch-thread.ts), and tells it which steps the worker is at. What the worker
 * is lost with, the thread notes, or the next worker finds in the home (services/supervisor/steps-at-work.ts).
 */
import { url as inspectorUrl } from 'node:inspector';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { ownRoot } from '../../services/home/package-root.ts';
import { forgetAtWork, noteAtWork, takeEnded } from '../../services/supervisor/steps-at-work.ts';
import { identifyProcess } from '../../services/processes/process-identity.ts';
import type { StepUnderWay } from '../../services/supervisor/worker-process.ts';
import type { ProcessIdentity } from '../../services/config/services-state.ts';

export interface WatchParts {
  /** What the event loop says four times a second: how often it has, and the bytes of its heap by then. */
  beats: SharedArrayBuffer;
  /** A loop that is silent for so long ends its process. */
  silentMs: number;
  databaseUrl: string;
  home: string;
  process: ProcessIdentity;
  heapBytesMax: number;
}

export type Told = { id: number; step: StepUnderWay } | { id: number };

const BEAT_MS = 250;
/** After a worker was lost, steps are written down before they begin: what takes a worker at once is found, too. */
const CAREFUL_MS = 600_000;

export class LoopWatch {
  readonly #home: string;
  readonly #process = identifyProcess(process.pid);
  readonly #thread: Worker | null;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #steps = new Map<number, StepUnderWay>();
  #carefulUntil = 0;
  #count = 0;

  /** `silentMs` 0: nothing is watched. Nor is a worker that somebody debugs, who stops it as they like. */
  constructor({ silentMs, databaseUrl, home }: Pick<WatchParts, 'silentMs' | 'databaseUrl' | 'home'>) {
    this.#home = home;
    if (silentMs === 0 || inspectorUrl() !== undefined || this.#process === null) {
      this.#thread = null;
      return;
    }
    const beats = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT);
    const said = new Float64Array(beats);
    const { heap_size_limit: heapBytesMax } = getHeapStatistics();
    const parts: WatchParts = { beats, silentMs, databaseUrl, home, process: this.#process, heapBytesMax };
    // A heap of its own: where that of the worker is all but full, this thread still has room.
    this.#thread = new Worker(join(ownRoot, 'dist', 'worker', 'watch-thread.js'), { workerData: parts, execArgv: [] });
    this.#thread.unref();
    // A worker that is not watched serves all the same.
    this.#thread.on('error', () => undefined);
    this.#timer = setInterval(() => {
      said[1] = getHeapStatistics().total_heap_size;
      said[0] = (said[0] ?? 0) + 1;
    }, BEAT_MS).unref();
  }

  /** The steps that earlier workers of this home were lost with: a list for each of them. Told once. */
  takeLost(): StepUnderWay[][] {
    const lost = takeEnded(this.#home).filter(({ isLost }) => isLost);
    if (lost.length > 0) this.#carefulUntil = Date.now() + CAREFUL_MS;
    return lost.map(({ steps }) => steps);
  }

  /** The worker is at a step until what this returns is called. */
  begin(step: StepUnderWay): () => void {
    const id = (this.#count += 1);
    this.#steps.set(id, step);
    this.#tell({ id, step });
    if (Date.now() < this.#carefulUntil) this.#note(false);
    return () => {
      this.#steps.delete(id);
      this.#tell({ id });
    };
  }

  /** The process ends though nobody has told it to: because of one of its steps. */
  crashed(told: AbortSignal): void {
    if (!told.aborted) this.#note(true);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread?.terminate();
    forgetAtWork(this.#home, process.pid);
  }

  #note(isLost: boolean): void {
    if (this.#thread === null || this.#process === null) return;
    noteAtWork(this.#home, { ...this.#process, isLost, steps: [...this.#steps.values()] });
  }

  #tell(told: Told): void {
    this.#thread?.postMessage(told);
  }
}
