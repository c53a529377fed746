/**
 * Wakes the runs that wait for an event. Every worker does its part: each claims a batch of waiting
 * runs, signals them, and goes on until none is left, so that ten thousand subscribers of one event
 * are woken by all workers together. The signal only says "look": the run reads the event itself, so
 * a signal that comes twice, or too late, costs one look.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../prisma/store/contract.ts';
import type { ClaimedRun } from '../prisma/store/event-contract.ts';
import type { Ear } from '../prisma/store/wakeups.ts';

/** Small enough that other workers find something to do. */
const batchMax = 100;
const signalsAtOnceMax = 20;
const outageMs = 1_000;
/** Events that nobody waits for may come in any number: between two looks in vain lies at least this. */
const vainMs = 50;

export interface WakerParts {
  signals: Pick<Store['signals'], 'claim' | 'told' | 'listen'>;
  /** Tells a run to look for its event. Resolves also when there is no such run any more; rejects when it may be tried again. */
  wake(handle: string): Promise<void>;
}

export class SubscriberWaker {
  readonly #parts: WakerParts;
  readonly #closing = new AbortController();
  readonly #done: Promise<void>;
  #restedAt = 0;
  /** Runs woken so far. */
  woken = 0;

  constructor(parts: WakerParts) {
    this.#parts = parts;
    this.#done = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const ear = this.#parts.signals.listen();
    try {
      while (!signal.aborted) {
        try {
          const claims = await this.#parts.signals.claim(batchMax);
          if (claims.length > 0) await this.#wakeAll(claims);
          else if (!signal.aborted) await this.#rest(ear);
        } catch {
          // The store is away: what is claimed now is claimed again later.
          await sleep(outageMs, undefined, { ref: false });
        }
      }
    } finally {
      ear.close();
    }
  }

  async #rest(ear: Ear): Promise<void> {
    await ear.next(this.#closing.signal);
    const early = vainMs - (Date.now() - this.#restedAt);
    if (early > 0 && !this.#closing.signal.aborted) await sleep(early);
    this.#restedAt = Date.now();
  }

  async #wakeAll(claims: readonly ClaimedRun[]): Promise<void> {
    const left = [...claims];
    const told: ClaimedRun[] = [];
    const take = async (): Promise<void> => {
      for (let claim = left.pop(); claim !== undefined; claim = left.pop()) {
        try {
          await this.#parts.wake(claim.handle);
          told.push(claim);
        } catch {
          // Left claimed: whoever finds the claim old tries again.
        }
      }
    };
    await Promise.all(Array.from({ length: signalsAtOnceMax }, take));
    this.woken += told.length;
    await this.#parts.signals.told(told);
  }
}
