/**
 * Simulated time: one queue of things that are due, run in order of time and then of asking.
 *
 * Time stands still while anything can still go on by itself, so the order of two replies depends on
 * what they took and never on the machine. What a machine has to give for that is a `Stage`.
 */
import type { Json, JsonObject } from '../../language/json.ts';

/** What simulated time needs of the machine it runs on. */
export interface Stage {
  /** Resolves when nothing is left that can go on without time passing. */
  settled(): Promise<void>;
  /** What is wrong with the data of an answer by its question's form; null where it fits. */
  formFault(form: JsonObject, data: Json): Promise<string | null>;
  /** Told whenever simulated time moves. */
  clockMoved?(now: number): void;
  /** The scope that the code now running belongs to, as an `AsyncLocalStorage` keeps it. */
  scopes: { getStore(): Scope | undefined; run<Result>(scope: Scope, work: () => Result): Result };
}

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
  readonly stage: Stage;
  private queue: Due[] = [];
  private asked = 0;

  constructor(startAt: number, stage: Stage) {
    this.now = startAt;
    this.stage = stage;
    stage.clockMoved?.(startAt);
  }

  /** The scope that the code now running belongs to. */
  get scope(): Scope | undefined {
    return this.stage.scopes.getStore();
  }

  within<Result>(scope: Scope, work: () => Result): Result {
    return this.stage.scopes.run(scope, work);
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

  /** Moves time until everything that was started has ended; `whenStuck` may end, once, what waits for nothing. */
  async drive<Result>(main: Promise<Result>, whenStuck?: () => void): Promise<Result> {
    let ended: { ok: true; value: Result } | { ok: false; error: unknown } | null = null;
    main.then(
      (value) => (ended = { ok: true, value }),
      (error: unknown) => (ended = { ok: false, error }),
    );
    const untilQuiet = async (): Promise<void> => {
      await this.stage.settled();
      for (let due = this.queue.shift(); due !== undefined && !isFailed(ended); due = this.queue.shift()) {
        this.now = due.at;
        this.stage.clockMoved?.(due.at);
        await due.run();
        await this.stage.settled();
      }
    };
    await untilQuiet();
    if (ended === null && whenStuck !== undefined) {
      whenStuck();
      await untilQuiet();
    }
    if (ended === null) throw new Error('the run waits for something that never comes');
    return main;
  }
}

const isFailed = (ended: { ok: boolean } | null): boolean => ended?.ok === false;

/** Those of one scripted run who wait until something has happened, or until a time. */
export class Waking {
  private readonly simulation: Simulation;
  private waiting: (() => void)[] = [];

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  untilWoken(scope: Scope | undefined, untilMs: number | null = null): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      scope?.onCancel(resolve);
      if (untilMs !== null) this.simulation.schedule(Math.max(0, untilMs - this.simulation.now), resolve);
    });
  }

  wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
