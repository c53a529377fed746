/**
 * Events of an attempt that was lost, of a run with which nobody goes on: it waits, and the message that the attempt
 * had heard was lost with it. Its question would stand as answered for ever. So what a run has recorded is held against
 * where the run stands, a while after somebody has replayed it and it recorded nothing new.
 *
 * What the store has is read before the run is asked: of that, what the run does not know is lost. Whoever goes on with
 * the run meanwhile says so where it is taken back (prisma/store/runs/lost-events.ts), which then changes nothing.
 */
import type { Store } from '../prisma/store/contract/contract.ts';

/** Where a run stands: its latest event, and how long history was before it was asked. Null: it has ended. */
export type StandingOf = (handle: string) => Promise<{ seq: number; history: number } | null>;

const lookMs = 2_000;

export class LostRecords {
  readonly #events: Pick<Store['events'], 'latestOwn' | 'takeBack'>;
  readonly #standingOf: StandingOf;
  /** The latest event of what was replayed, by the run. */
  readonly #replayed = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor({ events }: { events: Pick<Store['events'], 'latestOwn' | 'takeBack'> }, standingOf: StandingOf) {
    this.#events = events;
    this.#standingOf = standingOf;
  }

  replayed(handle: string, latest: number): void {
    this.#replayed.set(handle, latest);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const replayed = [...this.#replayed];
      this.#replayed.clear();
      this.#looking = this.#looking.then(() => this.#lookAt(replayed));
    }, lookMs).unref();
  }

  /** Whoever goes on with a run takes back what was lost before it. */
  goesOn(handle: string): void {
    this.#replayed.delete(handle);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #lookAt(replayed: readonly (readonly [handle: string, latest: number])[]): Promise<void> {
    for (const [handle, latest] of replayed) {
      // Where a server is away, whoever replays the run next looks again.
      await this.#look(handle, latest).catch(() => undefined);
    }
  }

  async #look(handle: string, latest: number): Promise<void> {
    const recorded = await this.#events.latestOwn(handle);
    if (recorded <= latest) return;
    const standing = await this.#standingOf(handle);
    if (standing === null || recorded <= standing.seq) return;
    await this.#events.takeBack(handle, standing.seq + 1, standing.history);
  }
}
