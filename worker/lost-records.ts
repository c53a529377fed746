/**
 * Events of an attempt that was lost, of a run with which nobody goes on: it waits, and the message that the attempt
 * had heard was lost with it. Its question would stand as answered for ever. So what a run has recorded is held against
 * where the run stands, a while after somebody has replayed it and it recorded nothing new.
 *
 * What the store has is read before the run is asked: of that, what the run does not know is lost. A worker that is at
 * the run writes before its task has ended, and an answer may come from before that: so it counts as lost where a second
 * look, a while later, finds both as they were. Whoever goes on with the run meanwhile says so where it is taken back
 * (prisma/store/runs/lost-events.ts), which then changes nothing.
 */
import type { Store } from '../prisma/store/contract/contract.ts';

/** Where a run stands: its latest event, and how long history was before it was asked. Null: it has ended. */
export type StandingOf = (handle: string) => Promise<{ seq: number; history: number } | null>;

/** The latest number in the store, and the run's own. */
interface Found {
  recorded: number;
  seq: number;
}

const lookMs = 2_000;

export class LostRecords {
  readonly #events: Pick<Store['events'], 'latestOwn' | 'takeBack'>;
  readonly #standingOf: StandingOf;
  /** The latest event of what was replayed, by the run. */
  readonly #replayed = new Map<string, number>();
  /** What the first look at a run has found. */
  readonly #first = new Map<string, Found>();
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
    this.#first.delete(handle);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #lookAt(replayed: readonly (readonly [handle: string, latest: number])[]): Promise<void> {
    for (const [handle, latest] of replayed) {
      const first = this.#first.get(handle);
      this.#first.delete(handle);
      // Where a server is away, whoever replays the run next looks again.
      await this.#look(handle, latest, first).catch(() => undefined);
    }
  }

  async #look(handle: string, latest: number, first: Found | undefined): Promise<void> {
    const recorded = await this.#events.latestOwn(handle);
    if (recorded <= latest) return;
    const standing = await this.#standingOf(handle);
    if (standing === null || recorded <= standing.seq) return;
    const { seq, history } = standing;
    if (first?.recorded === recorded && first.seq === seq) {
      await this.#events.takeBack(handle, seq + 1, history);
    } else {
      this.#first.set(handle, { recorded, seq });
      this.replayed(handle, latest);
    }
  }
}
