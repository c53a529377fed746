/**
 * Feeds whoever keeps a place in the order of published events: followers of systems and messages about runs by a loop of
 * its own, triggers whenever the dispatcher looks for what to start.
 *
 * - F1 What is done with events and the new place are one transaction: each event is followed once, in order, whichever
 *      worker is at it, and however often one dies.
 * - F2 Those who are fed do not wait for each other. One that fails is tried again at the same event, ever more rarely;
 *      nothing is left out, and `doctor` says so.
 * - F3 What fails as one of many events is tried by itself, so that the events before it are done with.
 */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Batch, FedCursor } from '../../prisma/store/contract/cursor-contract.ts';
import type { OpenSession } from '../../prisma/store/contract/session-contract.ts';
import type { Subscription } from '../../prisma/store/contract/subscription.ts';
import { BackgroundLoop, rest } from './background-loop.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

const outageMs = 1_000;
/** What rests after a failure is looked for again; of new events it hears. */
const lookMs = 1_000;

export interface Fed extends FedCursor {
  /** What it writes by the session is committed with its new place. */
  feed(batch: Batch, session: OpenSession): Promise<void>;
  /** Once that is committed. */
  fed?(): void;
}

export interface FeedParts {
  store: Pick<Store, 'cursors' | 'signals' | 'session'>;
  say: (text: string) => void;
}

export class EventFeed {
  readonly #parts: FeedParts;
  readonly #subscription: Subscription;
  readonly #loop: BackgroundLoop;
  readonly #fed = new Map<string, Fed>();
  readonly #opened = new Set<Fed>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  /** Aborts when there may be something that the latest look did not see. */
  #again = new AbortController();

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#subscription = parts.store.signals.listen();
    this.#loop = new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: outageMs });
  }

  add(fed: Fed): void {
    this.#fed.set(fed.name, fed);
    this.#again.abort();
  }

  /** Returns when it is given nothing any more. */
  async remove({ name }: Fed): Promise<void> {
    this.#fed.delete(name);
    await this.#underWay.get(name);
  }

  /** Gives it all that was published before and that no other worker has in hand. Whether there was anything. */
  async catchUp(fed: Fed): Promise<boolean> {
    await this.#open([fed]);
    const behind = await this.#parts.store.cursors.behind([fed]);
    return behind.has(fed.name) && this.#feed(fed, () => !this.#closing.signal.aborted);
  }

  async close(): Promise<void> {
    this.#fed.clear();
    this.#closing.abort();
    await this.#loop.close();
    await Promise.all(this.#underWay.values());
    this.#subscription.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    this.#again = new AbortController();
    const free = [...this.#fed.values()].filter(({ name }) => !this.#underWay.has(name));
    await this.#open(free);
    const behind = free.length === 0 ? null : await this.#parts.store.cursors.behind(free);
    for (const fed of free) if (behind?.has(fed.name) === true) this.#start(fed);
    const next = AbortSignal.any([signal, this.#again.signal, AbortSignal.timeout(lookMs)]);
    if (!next.aborted) await this.#subscription.next(next);
  }

  async #open(all: readonly Fed[]): Promise<void> {
    for (const fed of all) {
      if (this.#opened.has(fed)) continue;
      await this.#parts.store.cursors.open(fed);
      this.#opened.add(fed);
    }
  }

  #start(fed: Fed): void {
    const work = this.#feed(fed, () => this.#fed.get(fed.name) === fed)
      // The store is away: what was not committed is there again.
      .catch(() => rest(outageMs, this.#closing.signal))
      .then(() => {
        this.#underWay.delete(fed.name);
        this.#again.abort();
      });
    this.#underWay.set(fed.name, work);
  }

  /** Until there is nothing more, or it failed. */
  async #feed(fed: Fed, isWanted: () => boolean): Promise<boolean> {
    let singly = 0;
    let isGiven = false;
    while (isWanted()) {
      const done = await this.#give(singly > 0 ? { ...fed, most: 1 } : fed);
      if (done === 'nothing') break;
      if (done === 'given') {
        isGiven = true;
        singly = Math.max(0, singly - 1);
      } else if (done.events.length > 1) singly = done.events.length;
      else {
        await this.#hold(fed, done);
        break;
      }
    }
    return isGiven;
  }

  /** The batch, where it failed. */
  async #give(fed: Fed): Promise<'nothing' | 'given' | (Batch & { failure: string })> {
    const { cursors } = this.#parts.store;
    const session = this.#parts.store.session();
    let batch: Batch | null = null;
    try {
      batch = await cursors.take(session, fed);
      if (batch !== null) {
        crashPoint('feed.taken', { key: fed.name });
        await fed.feed(batch, session);
        crashPoint('feed.fed', { key: fed.name });
      }
      await session.end();
    } catch (error) {
      if (batch === null) throw error;
      return { ...batch, failure: error instanceof Error ? error.message : String(error) };
    } finally {
      await session.close();
    }
    if (batch === null) return 'nothing';
    crashPoint('feed.committed', { key: fed.name });
    fed.fed?.();
    return 'given';
  }

  async #hold({ name }: Fed, { after, failure }: Batch & { failure: string }): Promise<void> {
    const failures = await this.#parts.store.cursors.hold(name, after, failure);
    if (failures === 1) this.#parts.say(`${name} failed at an event, and is tried again: ${failure}`);
  }
}
