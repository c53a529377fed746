/** From what the store has of a log to where another worker goes on with it. */
import type { BegunChunk } from '../../../prisma/store/contract/contract.ts';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import type { KeptStream } from '../../../world/processes/kept/kept-streams.ts';
import { heldMax } from './stream-mask.ts';

interface BegunStream {
  /** The byte of the stream with which the log goes on. */
  from: number;
  /** From where it is read for that: a value that has to be masked may begin before. */
  readFrom: number;
  /** What it still takes before it keeps only its end. */
  headLeft: number;
  /** The chunk that holds its end. */
  tail: { part: number; droppedBytes: number } | null;
}

export interface BegunLog {
  nextPart: number;
  streams: Readonly<Record<KeptStream, BegunStream>>;
  /** In which order the streams were read: each up to the byte that stands with it. */
  order: readonly { stream: KeptStream; until: number }[];
}

export function begunLog(chunks: readonly BegunChunk[]): BegunLog {
  const read = { stdout: new ReadStream(), stderr: new ReadStream() };
  const order: { stream: KeptStream; until: number }[] = [];
  for (const { stream, part, bytes, readBytes } of chunks) {
    if ((stream !== 'stdout' && stream !== 'stderr') || readBytes === null) continue;
    read[stream].add(part, bytes, readBytes);
    order.push({ stream, until: readBytes });
  }
  const nextPart = 1 + Math.max(-1, ...chunks.map(({ part }) => part));
  return { nextPart, streams: { stdout: read.stdout.begun(), stderr: read.stderr.begun() }, order };
}

class ReadStream {
  #headLeft: number = SHELL_BOUNDS.logHeadBytes;
  #readBytes = 0;
  #tail: { part: number; from: number } | null = null;

  add(part: number, bytes: number, readBytes: number): void {
    if (this.#headLeft <= 0) this.#tail ??= { part, from: this.#readBytes };
    else this.#headLeft -= bytes;
    this.#readBytes = readBytes;
  }

  /** The chunk of the end is written anew: what it is to hold is read again. */
  begun(): BegunStream {
    const read = this.#readBytes;
    if (this.#tail === null) return { from: read, readFrom: read, headLeft: this.#headLeft, tail: null };
    const { part, from: tailFrom } = this.#tail;
    const from = Math.max(tailFrom, read - SHELL_BOUNDS.logTailBytes);
    const readFrom = Math.max(tailFrom, from - heldMax);
    return { from, readFrom, headLeft: 0, tail: { part, droppedBytes: from - tailFrom } };
  }
}
