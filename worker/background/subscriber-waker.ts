/**
 * Wakes the runs that wait for an event. Every worker does its part: each claims a batch of waiting
 * runs, signals them, and goes on until none is left, so that ten thousand subscribers of one event
 * are woken by all workers together. The signal only says "look": the run reads the event itself, so
 * a signal that comes twice, or too late, costs one look.
 */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { ClaimedRun } from '../../prisma/store/contract/event-contract.ts';
import type { Subscription } from '../../prisma/store/contract/subscription.ts';
import { BackgroundLoop, rest } from './background-loop.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

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
  readonly #subscription: Subscription;
  readonly #loop: BackgroundLoop;
  #restedAt = 0;
  /** Runs woken so far. */
  woken = 0;

  constructor(parts: WakerParts) {
    this.#parts = parts;
    this.#subscription = parts.signals.listen();
    // Where the store is away, what is claimed now is claimed again later.
    this.#loop = new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: outageMs });
  }

  async close(): Promise<void> {
    await this.#loop.close();
    this.#subscription.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const claims = await this.#parts.signals.claim(batchMax);
    if (claims.length > 0) await this.#wakeAll(claims);
    else if (!signal.aborted) await this.#rest(signal);
  }

  async #rest(signal: AbortSignal): Promise<void> {
    await this.#subscription.next(signal);
    const early = vainMs - (Date.now() - this.#restedAt);
    if (early > 0) await rest(early, signal);
    this.#restedAt = Date.now();
  }

  async #wakeAll(claims: readonly ClaimedRun[]): Promise<void> {
    crashPoint('waker.claimed');
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
    crashPoint('waker.woken');
    this.woken += told.length;
    await this.#parts.signals.told(told);
  }
}
