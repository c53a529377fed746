/**
 * A run's events as they come, those of its nested runs among them. What a nested run did stands
 * before the end of the step that waited for it; following ends with the run itself.
 */
import type { RunEvent } from '../language/run-event.ts';
import type { Store } from '../prisma/store/contract.ts';
import { inSequence } from './in-sequence.ts';

export interface FollowedEvent {
  /** The run that the event belongs to: the followed one, or one nested in it. */
  handle: string;
  event: RunEvent;
}

export interface FollowOptions {
  /** Events of the run after this number; nested runs that had begun before are left out. */
  after?: number;
  /** Default true. */
  nested?: boolean;
  signal?: AbortSignal;
}

type Deliver = (item: FollowedEvent) => void;

interface Branch {
  done: Promise<void>;
  end: AbortController;
}

export async function* followRun(store: Store, handle: string, options: FollowOptions = {}): AsyncGenerator<FollowedEvent> {
  const queue: FollowedEvent[] = [];
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

async function pump(store: Store, handle: string, deliver: Deliver, options: FollowOptions): Promise<void> {
  const { after, nested = true, signal } = options;
  const branches = new Map<string, Branch>();
  try {
    const events = store.events.follow(handle, { ...(after === undefined ? {} : { after }), ...(signal === undefined ? {} : { signal }) });
    for await (const event of inSequence(events, after ?? 0)) {
      const child = `${handle}/${event.key}`;
      const isNesting = nested && 'step' in event && event.step === 'sentinel';
      if (isNesting && event.type === 'step-finished') await settle(store, child, branches);
      deliver({ handle, event });
      if (isNesting && event.type === 'step-started') branches.set(child, branch(store, child, deliver));
    }
  } finally {
    for (const { end } of branches.values()) end.abort();
    await Promise.allSettled([...branches.values()].map(({ done }) => done));
  }
}

function branch(store: Store, child: string, deliver: Deliver): Branch {
  const end = new AbortController();
  const done = pump(store, child, deliver, { signal: end.signal });
  // Reported by `settle`, or by the end of the run, whichever comes first.
  done.catch(() => undefined);
  return { done, end };
}

/**
 * A nested run that was waited for has all its events in the store when its step ends; one that never
 * began has none; one that nobody waits for goes on.
 */
async function settle(store: Store, child: string, branches: Map<string, Branch>): Promise<void> {
  const under = branches.get(child);
  if (under === undefined) return;
  const run = await store.runs.find(child);
  if (run !== null && run.finishedAt === null) return;
  if (run === null) under.end.abort();
  await under.done;
  branches.delete(child);
}
