/** A log as it grows, in lines. */
import type { Database } from '../connection/database.ts';
import { LogLines, shown } from './log-lines.ts';
import { LogReader } from './log-reader.ts';
import { FINISHED_SQL, isAborted, ridingOut } from '../connection/riding-out.ts';
import { LOG_CHANNEL } from '../events/wakeups.ts';
import type { Listener } from '../events/wakeups.ts';

interface Following {
  database: Database;
  listener: Listener;
  handle: string;
  streams: string[];
  signal: AbortSignal | undefined;
}

export async function* followLog(following: Following): AsyncGenerator<string> {
  const { database, listener, handle, signal } = following;
  const growth = new Growth();
  const reader = new LogReader(following);
  const subscription = listener.listen(LOG_CHANNEL, handle);
  try {
    while (!isAborted(signal)) {
      // Asked before reading: a run that had finished by then has written all of its log.
      const finished = await ridingOut(signal, () => database.query(FINISHED_SQL, [handle]));
      let count = 0;
      do {
        const page = await ridingOut(signal, () => reader.read());
        for (const piece of page ?? []) growth.log.add(piece);
        yield* growth.takeSettled();
        count += page?.length ?? 0;
      } while (reader.hasMore && !isAborted(signal));
      const isOver = (finished?.length ?? 0) > 0;
      // A prompt without a line break is worth seeing once its writer falls silent.
      if (isOver || (count === 0 && (await subscription.next(signal)) === 'polled')) yield* growth.takeAll();
      if (isOver) return;
    }
  } finally {
    subscription.close();
  }
}

class Growth {
  log = new LogLines(wrapLength);
  #taken = 0;

  takeSettled(): string[] {
    return this.#take(this.log.settled);
  }

  takeAll(): string[] {
    const lines = this.#take(this.log.lines.length);
    this.log = new LogLines(wrapLength);
    this.#taken = 0;
    return lines;
  }

  #take(upTo: number): string[] {
    const lines = this.log.lines.slice(this.#taken, upTo).map(shown);
    this.#taken = Math.max(this.#taken, upTo);
    return lines;
  }
}

/** What a model says is shown before its paragraph ends. */
const wrapLength = 120;
