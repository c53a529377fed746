/**
 * SIGTERM and Ctrl-C for a process that has something to end first. It is told before it waits for anything,
 * so that it can give up whatever it waits for; a second signal, or the end of its time, ends it at once.
 */
import { constants } from 'node:os';

/** To a worker: end, and let processes that outlive it go on. */
export const LEAVE_SIGNAL = 'SIGUSR2';
const SIGNALS = ['SIGTERM', 'SIGINT', LEAVE_SIGNAL] as const;

export interface EndSignals {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Whether that was `LEAVE_SIGNAL`. */
  isLeaving(): boolean;
  /** Signals have their usual effect again. */
  release(): void;
}

export interface EndOptions {
  /** From the first signal on. */
  graceMs: number;
  /** Does not return: what is left is let go of, and the process exits. */
  endNow: (exitCode: number, why: 'signal' | 'time') => void;
}

export function onEndSignals({ graceMs, endNow }: EndOptions): EndSignals {
  const ending = new AbortController();
  let first: NodeJS.Signals | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (signal: NodeJS.Signals): void => {
    if (ending.signal.aborted) return endNow(128 + constants.signals[signal], 'signal');
    first = signal;
    timer = setTimeout(() => endNow(1, 'time'), graceMs);
    ending.abort();
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return {
    signal: ending.signal,
    isLeaving: () => first === LEAVE_SIGNAL,
    release() {
      clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, end);
    },
  };
}

/** What the work comes to; rejects with the signal's reason as soon as it aborts, whatever the work is at. */
export async function abortable<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  // Whoever waited has left by the time it fails.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (abort !== undefined) signal.removeEventListener('abort', abort);
  }
}

/** What is begun then is ended by `close`. */
export function onceAborted(signal: AbortSignal, begin: () => { close(): void }): { close(): void } {
  let begun: { close(): void } | undefined;
  const abort = (): void => {
    begun = begin();
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { close: () => begun?.close() };
}
