/** Watches over the event loop of a worker from a thread (watch-thread.ts), and tells it which steps the worker is at. */
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { StepUnderWay } from '../../services/supervisor/worker-process.ts';

export interface WatchParts {
  beats: SharedArrayBuffer;
  /** A loop that is silent for so long ends its process. */
  silentMs: number;
  databaseUrl: string;
}

export type Told = { id: number; step: StepUnderWay } | { id: number };

const BEAT_MS = 250;

export class LoopWatch {
  readonly #thread: Worker | null;
  readonly #timer: NodeJS.Timeout | undefined;
  #count = 0;

  /** `silentMs` 0: nothing is watched. Nor is a worker that somebody debugs, who stops it as they like. */
  constructor(silentMs: number, databaseUrl: string) {
    if (silentMs === 0 || inspectorUrl() !== undefined) {
      this.#thread = null;
      return;
    }
    const beats = new SharedArrayBuffer(4);
    const counted = new Int32Array(beats);
    const parts: WatchParts = { beats, silentMs, databaseUrl };
    this.#thread = new Worker(new URL('watch-thread.js', import.meta.url), { workerData: parts, execArgv: [] });
    this.#thread.unref();
    // A worker that is not watched serves all the same.
    this.#thread.on('error', () => undefined);
    this.#timer = setInterval(() => Atomics.add(counted, 0, 1), BEAT_MS).unref();
  }

  /** The worker is at a step until what this returns is called. */
  begin(step: StepUnderWay): () => void {
    const id = (this.#count += 1);
    this.#tell({ id, step });
    return () => this.#tell({ id });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread?.terminate();
  }

  #tell(told: Told): void {
    this.#thread?.postMessage(told);
  }
}
