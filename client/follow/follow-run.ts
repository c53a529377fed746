/**
 * A run's events as they come, those of its nested runs among them. What a nested run did stands
 * before the end of the step that waited for it; following ends with the run itself.
 */
import { withoutMark } from '../../language/events/nested-runs.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import type { LogPiece, Store } from '../../prisma/store/contract/contract.ts';
import { inSequence } from './in-sequence.ts';
import { SaidLive } from './said-live.ts';

export interface FollowedEvent {
  /** The run that the event belongs to: the followed one, or one nested in it. */
  handle: string;
  event: RunEvent;
}

/** A piece of what a model says: `key` is the turn's, `stream` tells the answer, thoughts, calls and notes apart. */
export interface FollowedPiece {
  handle: string;
  said: LogPiece;
}

export interface FollowOptions {
  /** Events of the run after this number; nested runs that had begun before are left out. */
  after?: number;
  /** Default true. */
  nested?: boolean;
  signal?: AbortSignal;
}

/** How often a run is looked up that a step started after its first. */
const LOOK_MS = 1000;

type Deliver = (item: FollowedEvent | FollowedPiece) => void;
type PumpOptions = FollowOptions & { withSaid?: boolean };

export async function* followRun(
  store: Store,
  handle: string,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent> {
  for await (const item of follow(store, handle, options)) if ('event' in item) yield item;
}

/** The same, and what models say as they do. */
export function followLive(
  store: Store,
  handle: string,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent | FollowedPiece> {
  return follow(store, handle, { ...options, withSaid: true });
}

async function* follow(
  store: Store,
  handle: string,
  options: PumpOptions,
): AsyncGenerator<FollowedEvent | FollowedPiece> {
  const queue: (FollowedEvent | FollowedPiece)[] = [];
  let wake: (() => void) | undefined;
  const deliver: Deliver = (item) => {
    queue.push(item);
    wake?.();
  };
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  options.signal?.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted === true) stop();
  const state: { over: boolean; error?: unknown } = { over: false };
  const finished = pump(store, handle, deliver, { ...options, signal: ending.signal })
    .catch((error: unknown) => (state.error = error))
    .finally(() => {
      state.over = true;
      wake?.();
    });
  try {
    for (;;) {
      while (queue.length > 0) yield* queue.splice(0);
      if (state.over) break;
      await new Promise<void>((resolve) => (wake = resolve));
      wake = undefined;
    }
    if ('error' in state) throw state.error;
  } finally {
    ending.abort();
    options.signal?.removeEventListener('abort', stop);
    await finished;
  }
}

async function pump(store: Store, handle: string, deliver: Deliver, options: PumpOptions): Promise<void> {
  const { after, nested = true, signal, withSaid = false } = options;
  const below = new Nested(store, handle, deliver, withSaid);
  const live = withSaid ? new SaidLive(store, handle, (said) => deliver({ handle, said })) : null;
  try {
    const events = store.events.follow(handle, defined({ after, signal }));
    for await (const event of inSequence(events, after ?? 0)) {
      const isNesting = nested && 'step' in event && event.step === 'sentinel';
      if (isNesting && event.type === 'step-finished') await below.settle(event.key);
      await live?.before(event);
      deliver({ handle, event });
      await live?.after(event);
      if (isNesting && event.type === 'step-started') below.begin(event.key);
    }
  } finally {
    await live?.end();
    await below.end();
  }
}

interface Branch {
  done: Promise<void>;
  end: AbortController;
  /** It has not begun, or is over. */
  idle: boolean;
}

/**
 * The runs that the steps of one run started. What a step starts first mostly has the step's key for a
 * name and is followed at once; the store is asked for others (language/events/nested-runs.ts).
 */
class Nested {
  readonly #store: Store;
  readonly #handle: string;
  readonly #deliver: Deliver;
  readonly #withSaid: boolean;
  /** By the step's key, and then by handle; null for what has ended. */
  readonly #steps = new Map<string, Map<string, Branch | null>>();
  readonly #underWay = new Set<string>();
  #looking: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(store: Store, handle: string, deliver: Deliver, withSaid: boolean) {
    this.#store = store;
    this.#handle = handle;
    this.#deliver = deliver;
    this.#withSaid = withSaid;
  }

  begin(key: string): void {
    this.#underWay.add(key);
    this.#steps.set(key, this.#steps.get(key) ?? new Map<string, Branch | null>());
    this.#follow(key, `${this.#handle}/${key}`);
    this.#looking ??= setInterval(() => void this.#look().catch(() => undefined), LOOK_MS);
  }

  /**
   * A nested run that was waited for has all its events in the store when its step ends; one that never
   * began has none; one that nobody waits for goes on.
   */
  async settle(key: string): Promise<void> {
    const branches = this.#steps.get(key);
    if (branches === undefined) return;
    this.#underWay.delete(key);
    for (const child of await this.#store.runs.nested(this.#handle, key)) this.#follow(key, child);
    for (const [child, branch] of branches) {
      if (branch === null) continue;
      const run = await this.#store.runs.find(child);
      if (run !== null && run.finishedAt === null) continue;
      if (run === null) branch.end.abort();
      await branch.done;
      branches.set(child, null);
    }
  }

  async end(): Promise<void> {
    this.#ended = true;
    clearInterval(this.#looking);
    const branches = [...this.#steps.values()].flatMap((of) => [...of.values()]).filter((branch) => branch !== null);
    for (const { end } of branches) end.abort();
    await Promise.allSettled(branches.map(({ done }) => done));
  }

  /** A failure of the store is told by whoever follows an event; here it is looked at again. */
  async #look(): Promise<void> {
    const isIdle = (key: string): boolean =>
      [...(this.#steps.get(key)?.values() ?? [])].every((branch) => branch?.idle !== false);
    if (![...this.#underWay].some(isIdle)) return;
    for (const child of await this.#store.runs.nested(this.#handle))
      this.#follow(withoutMark(child).slice(this.#handle.length + 1), child);
  }

  #follow(key: string, child: string): void {
    const branches = this.#steps.get(key);
    if (this.#ended || branches === undefined || branches.has(child)) return;
    const branch: Branch = { done: Promise.resolve(), end: new AbortController(), idle: true };
    const deliver: Deliver = (item) => {
      branch.idle = false;
      this.#deliver(item);
    };
    branch.done = pump(this.#store, child, deliver, { signal: branch.end.signal, withSaid: this.#withSaid }).finally(
      () => (branch.idle = true),
    );
    // Reported by `settle`, or by the end of the run, whichever comes first.
    branch.done.catch(() => undefined);
    branches.set(child, branch);
  }
}
