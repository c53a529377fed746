/** A log as it grows, in lines. */
import type { Database } from '../connection/database.ts';
import type { LogLine, LogQuery } from '../contract/contract.ts';
import type { Subscription } from '../contract/subscription.ts';
import { LogLines, shown } from './log-lines.ts';
import { LogReader } from './log-reader.ts';
import { handlesOf, wanted } from './wanted-chunks.ts';
import { FINISHED_SQL, isAborted, ridingOut } from '../connection/riding-out.ts';
import { LOG_CHANNEL } from '../events/wakeups.ts';
import type { Listener } from '../events/wakeups.ts';

interface Following {
  database: Database;
  listener: Listener;
  handle: string;
  query: LogQuery;
  signal: AbortSignal | undefined;
}

export async function* followLog(following: Following): AsyncGenerator<LogLine> {
  const { database, handle, query, signal } = following;
  const growth = new Growth();
  const logs = new OpenLogs(following);
  try {
    while (!isAborted(signal)) {
      // Asked before reading: a run that had finished by then has written all of its log.
      const finished = await ridingOut(signal, () => database.query(FINISHED_SQL, [handle]));
      logs.open((await ridingOut(signal, () => handlesOf(database, handle, query))) ?? [handle]);
      let count = 0;
      for (const reader of logs.readers) {
        do {
          const page = await ridingOut(signal, () => reader.readDated());
          for (const piece of page ?? []) growth.log.add(piece);
          yield* growth.takeSettled();
          count += page?.length ?? 0;
        } while (reader.hasMore && !isAborted(signal));
      }
      const isOver = (finished?.length ?? 0) > 0;
      // A prompt without a line break is worth seeing once its writer falls silent.
      if (isOver || (count === 0 && (await logs.next(signal)) === 'polled')) yield* growth.takeAll();
      if (isOver) return;
    }
  } finally {
    logs.close();
  }
}

/** A reader for each run, since nested runs begin while the run around them is followed. */
class OpenLogs {
  readonly #following: Following;
  readonly #readers = new Map<string, LogReader>();
  readonly #subscription: Subscription;

  constructor(following: Following) {
    this.#following = following;
    this.#subscription = following.listener.listen(LOG_CHANNEL, following.handle);
  }

  get readers(): Iterable<LogReader> {
    return this.#readers.values();
  }

  open(handles: readonly string[]): void {
    const { database, handle: root, query } = this.#following;
    for (const handle of handles)
      if (!this.#readers.has(handle))
        this.#readers.set(handle, new LogReader({ database, handle, wanted: wanted(root, query) }));
  }

  next(signal: AbortSignal | undefined): ReturnType<Subscription['next']> {
    return this.#subscription.next(signal);
  }

  close(): void {
    this.#subscription.close();
  }
}

class Growth {
  log = new LogLines(wrapLength);
  #taken = 0;

  takeSettled(): LogLine[] {
    return this.#take(this.log.settled);
  }

  takeAll(): LogLine[] {
    const lines = this.#take(this.log.lines.length);
    this.log = new LogLines(wrapLength);
    this.#taken = 0;
    return lines;
  }

  #take(upTo: number): LogLine[] {
    const lines = this.log.lines.slice(this.#taken, upTo).map(shown);
    this.#taken = Math.max(this.#taken, upTo);
    return lines;
  }
}

/** What a model says is shown before its paragraph ends. */
const wrapLength = 120;
