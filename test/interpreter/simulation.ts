/**
 * Simulated time: one queue of things that are due, run in order of time and then of asking.
 *
 * - Time stands still while anything can still go on by itself, so the order of two replies depends
 *   on what they took and never on the machine.
 * - `Date` shows simulated time, so code that reads the clock (the segment host) agrees with it.
 */
import { vi } from 'vitest';

interface Due {
  at: number;
  order: number;
  run: () => void | Promise<void>;
}

/** What can be cancelled together: a run, or one branch of a parallel step. */
export class Scope {
  cancelled = false;
  private readonly inner: (() => void)[] = [];

  constructor(parent?: Scope) {
    parent?.onCancel(() => this.cancel());
  }

  onCancel(tell: () => void): void {
    if (this.cancelled) tell();
    else this.inner.push(tell);
  }

  cancel(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    for (const tell of this.inner) tell();
  }
}

const dueMax = 200_000;

export class Simulation {
  now: number;
  private queue: Due[] = [];
  private asked = 0;

  constructor(startAt: number) {
    this.now = startAt;
    vi.setSystemTime(startAt);
  }

  schedule(ms: number, run: Due['run']): void {
    this.asked += 1;
    if (this.asked > dueMax) throw new Error(`the simulated run did not end within ${dueMax} replies`);
    const due = { at: this.now + ms, order: this.asked, run };
    const index = this.queue.findIndex((other) => other.at > due.at);
    this.queue.splice(index === -1 ? this.queue.length : index, 0, due);
  }

  /** True when the time has passed, false when the scope was cancelled first. */
  after(ms: number, scope: Scope): Promise<boolean> {
    return new Promise((resolve) => {
      this.schedule(ms, () => resolve(true));
      scope.onCancel(() => resolve(false));
    });
  }

  /** Moves time until everything that was started has ended. */
  async drive<Result>(main: Promise<Result>): Promise<Result> {
    let ended: { ok: true; value: Result } | { ok: false; error: unknown } | null = null;
    main.then(
      (value) => (ended = { ok: true, value }),
      (error: unknown) => (ended = { ok: false, error }),
    );
    await settled();
    for (let due = this.queue.shift(); due !== undefined && !isFailed(ended); due = this.queue.shift()) {
      this.now = due.at;
      vi.setSystemTime(due.at);
      await due.run();
      await settled();
    }
    if (ended === null) throw new Error('the run waits for something that never comes');
    return main;
  }
}

const isFailed = (ended: { ok: boolean } | null): boolean => ended?.ok === false;

/** When nothing is left that can go on without time passing. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
