/**
 * What a worker does beside its tasks, in turns, until it is closed. A turn that fails, because
 * Temporal or the store is away, is taken again after a rest: it finds what the failed one did not.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface BackgroundLoopParts {
  /** Does what there is to do and, where there is nothing, waits for more; returns soon once the signal aborts. */
  turn: (signal: AbortSignal) => Promise<void>;
  /** Rest after a turn that failed. */
  retryMs: number;
  /** Told of the first of several failures in a row. */
  failing?: (error: unknown) => void;
}

export class BackgroundLoop {
  readonly #parts: BackgroundLoopParts;
  readonly #closing = new AbortController();
  readonly #done: Promise<void>;

  constructor(parts: BackgroundLoopParts) {
    this.#parts = parts;
    this.#done = this.#run();
  }

  /** Returns when the turn under way has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { turn, retryMs, failing } = this.#parts;
    const { signal } = this.#closing;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await turn(signal);
        isFailing = false;
      } catch (error) {
        if (!isFailing) failing?.(error);
        isFailing = true;
        await rest(retryMs, signal);
      }
    }
  }
}

/** Returns early when the signal aborts, which is the only way for a sleep to fail. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
