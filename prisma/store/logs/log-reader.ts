/**
 * A log as it grows, in pieces. A chunk written again shows only what is new at its end: the end of a chunk's
 * text lies `droppedBytes + bytes` into its writer's output since the chunk before, so the difference
 * between two writings is what was added.
 *
 * Invariant: `revision` orders writings, but a concurrent writer's lower number may become visible
 * later; the last REVISIONS_WINDOW numbers are therefore asked for again, less those already seen.
 */
import type { Database } from '../connection/database.ts';
import type { LogPiece } from '../contract/contract.ts';
import type { DatedPiece, StoredChunk } from './log-lines.ts';
import { COLUMNS, WANTED, wantedParameters, type Wanted } from './wanted-chunks.ts';

const PAGE = 50;
const REVISIONS_WINDOW = 512;

interface Read {
  database: Database;
  handle: string;
  wanted: Wanted;
}

export class LogReader {
  /** The last read brought as much as one does: there may be more. */
  hasMore = false;
  readonly #read: Read;
  readonly #seen = new SeenRevisions();
  /** By the position of its chunk, how far a writer's output was read. */
  readonly #ends = new Map<number, number>();

  constructor(read: Read) {
    this.#read = read;
  }

  /** What is new since the last time, a page at most. */
  async read(): Promise<LogPiece[]> {
    const pieces = await this.readDated();
    return pieces.map(({ key, stream, attempt, text, droppedBytes }) => ({ key, stream, attempt, text, droppedBytes }));
  }

  /** The same, with the run that each piece belongs to and the time of its writing. */
  async readDated(): Promise<DatedPiece[]> {
    const { database, handle, wanted } = this.#read;
    const page = await database.query<StoredChunk>(
      `select ${COLUMNS} from log_chunks where ${WANTED} and revision > $7 and not revision = any($8::bigint[])
       order by revision limit ${PAGE}`,
      [...wantedParameters([handle], wanted), this.#seen.floor, this.#seen.numbers],
    );
    for (const chunk of page) this.#seen.add(chunk.revision);
    this.hasMore = page.length === PAGE;
    return page.flatMap((chunk) => this.#fresh(chunk) ?? []);
  }

  #fresh({ position, text, bytes, droppedBytes, ...chunk }: StoredChunk): DatedPiece | null {
    const end = droppedBytes + bytes;
    const readUpTo = this.#ends.get(position) ?? 0;
    this.#ends.set(position, Math.max(end, readUpTo));
    const fresh = end - readUpTo;
    if (fresh <= 0) return null;
    const added = fresh >= bytes ? text : Buffer.from(text).subarray(-fresh).toString();
    return { ...chunk, text: added, droppedBytes: Math.max(0, fresh - bytes) };
  }
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
