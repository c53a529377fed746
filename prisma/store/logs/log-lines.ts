/**
 * Lines out of chunks. A chunk may end in the middle of a line, and chunks of several writers (steps
 * in parallel, stdout beside stderr) lie between each other: a line belongs where it began, and only
 * its own writer goes on with it. Bytes that a log's bound left out show as one line.
 */
import { isModelStream, markOf } from '../../../language/models/model-streams.ts';
import type { LogLine, LogPiece } from '../contract/contract.ts';
import { wrapped } from '../../../language/events/wrapped.ts';

/** A chunk, or what is new of it, with the run it belongs to and when it was written. */
export interface DatedPiece extends LogPiece {
  handle: string;
  writtenAt: Date;
}

export interface StoredChunk extends DatedPiece {
  position: number;
  revision: number;
  bytes: number;
}

export class LogLines {
  readonly lines: LogLine[] = [];
  /** Of each writer that is in the middle of a line, the line's index. */
  readonly #open = new Map<string, number>();
  readonly #wrapLength: number;

  /** `wrapLength`: lines of models are broken there, so that they can be shown while they grow. */
  constructor(wrapLength = Infinity) {
    this.#wrapLength = wrapLength;
  }

  add(chunk: DatedPiece): void {
    const writer = JSON.stringify([chunk.handle, chunk.key, chunk.stream, chunk.attempt]);
    if (chunk.droppedBytes > 0) {
      this.#open.delete(writer);
      this.#push(chunk, `… ${chunk.droppedBytes.toLocaleString('en-US')} bytes dropped …`);
    }
    const pieces = chunk.text.split('\n');
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      this.#extend(writer, chunk, piece);
      this.#open.delete(writer);
    }
    if (rest !== '') this.#extend(writer, chunk, rest);
  }

  /** Lines up to here will not change any more. */
  get settled(): number {
    let settled = this.lines.length;
    for (const index of this.#open.values()) settled = Math.min(settled, index);
    return settled;
  }

  #extend(writer: string, chunk: DatedPiece, text: string): void {
    const { stream } = chunk;
    const index = this.#open.get(writer);
    const begun = index === undefined ? undefined : this.lines[index];
    const line = begun === undefined ? markOf(stream) + text : `${begun.text}${text}`;
    const [first = '', ...others] = isModelStream(stream) ? wrapped(line, this.#wrapLength) : [line];
    if (begun === undefined) this.#open.set(writer, this.#push(chunk, first));
    else begun.text = first;
    for (const other of others) this.#open.set(writer, this.#push(chunk, other));
  }

  /** The line's index. */
  #push({ handle, key, stream, writtenAt }: DatedPiece, text: string): number {
    return this.lines.push({ handle, key, stream, at: writtenAt.getTime(), text }) - 1;
  }
}

/** Removes the carriage return of a CRLF. */
export const shown = (line: LogLine): LogLine =>
  line.text.endsWith('\r') ? { ...line, text: line.text.slice(0, -1) } : line;
