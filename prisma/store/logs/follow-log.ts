/**
 * A log as it grows. A chunk written again shows only what is new at its end: the end of a chunk's
 * text lies `droppedBytes + bytes` into its writer's output since the chunk before, so the difference
 * between two writings is what was added.
 *
 * Invariant: `revision` orders writings, but a concurrent writer's lower number may become visible
 * later; the last REVISIONS_WINDOW numbers are therefore asked for again, less those already seen.
 */
import type { Database } from '../connection/database.ts';
import { LogLines, shown } from './log-lines.ts';
import type { StoredChunk } from './log-lines.ts';
import { FINISHED_SQL, isAborted, ridingOut } from '../connection/riding-out.ts';
import { LOG_CHANNEL } from '../events/wakeups.ts';
import type { Listener } from '../events/wakeups.ts';

const PAGE = 50;
const REVISIONS_WINDOW = 512;

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
  const seen = new SeenRevisions();
  const subscription = listener.listen(LOG_CHANNEL, handle);
  try {
    while (!isAborted(signal)) {
      // Asked before reading: a run that had finished by then has written all of its log.
      const finished = await ridingOut(signal, () => database.query(FINISHED_SQL, [handle]));
      let count = 0;
      for (let full = true; full && !isAborted(signal);) {
        const page = await ridingOut(signal, () => readNew(following, seen));
        for (const chunk of page ?? []) growth.add(chunk);
        yield* growth.takeSettled();
        count += page?.length ?? 0;
        full = page?.length === PAGE;
      }
      const isOver = (finished?.length ?? 0) > 0;
      // A prompt without a line break is worth seeing once its writer falls silent.
      if (isOver || (count === 0 && (await subscription.next(signal)) === 'polled')) yield* growth.takeAll();
      if (isOver) return;
    }
  } finally {
    subscription.close();
  }
}

async function readNew({ database, handle, streams }: Following, seen: SeenRevisions): Promise<StoredChunk[]> {
  const page = await database.query<StoredChunk>(
    `select position, revision, key, stream, attempt, text, bytes, dropped_bytes as "droppedBytes" from log_chunks
     where handle = $1 and stream = any($2::text[]) and revision > $3 and not revision = any($4::bigint[])
     order by revision limit ${PAGE}`,
    [handle, streams, seen.floor, seen.numbers],
  );
  for (const chunk of page) seen.add(chunk.revision);
  return page;
}

class SeenRevisions {
  #numbers = new Set<number>();
  #highest = 0;

  get floor(): number {
    return this.#highest - REVISIONS_WINDOW;
  }

  get numbers(): number[] {
    return [...this.#numbers];
  }

  add(revision: number): void {
    this.#numbers.add(revision);
    if (revision <= this.#highest) return;
    this.#highest = revision;
    if (this.#numbers.size > 2 * REVISIONS_WINDOW)
      this.#numbers = new Set(this.numbers.filter((number) => number > this.floor));
  }
}

class Growth {
  readonly #ends = new Map<number, number>();
  #log = new LogLines();
  #taken = 0;

  add(chunk: StoredChunk): void {
    const end = chunk.droppedBytes + chunk.bytes;
    const shownUpTo = this.#ends.get(chunk.position) ?? 0;
    this.#ends.set(chunk.position, Math.max(end, shownUpTo));
    const fresh = end - shownUpTo;
    if (fresh <= 0) return;
    const text = fresh >= chunk.bytes ? chunk.text : Buffer.from(chunk.text).subarray(-fresh).toString();
    this.#log.add({ ...chunk, text, droppedBytes: Math.max(0, fresh - chunk.bytes) });
  }

  takeSettled(): string[] {
    return this.#take(this.#log.settled);
  }

  takeAll(): string[] {
    const lines = this.#take(this.#log.lines.length);
    this.#log = new LogLines();
    this.#taken = 0;
    return lines;
  }

  #take(upTo: number): string[] {
    const lines = this.#log.lines.slice(this.#taken, upTo).map(shown);
    this.#taken = Math.max(this.#taken, upTo);
    return lines;
  }
}
