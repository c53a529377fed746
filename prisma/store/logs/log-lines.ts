/**
 * Lines out of chunks. A chunk may end in the middle of a line, and chunks of several writers (steps
 * in parallel, stdout beside stderr) lie between each other: a line belongs where it began, and only
 * its own writer goes on with it. Bytes that a log's bound left out show as one line.
 */
import { isModelStream, markOf } from '../../../language/models/model-streams.ts';
import type { LogPiece } from '../contract/contract.ts';
import { wrapped } from './wrapped.ts';

export interface StoredChunk {
  position: number;
  revision: number;
  key: string;
  stream: string;
  attempt: number;
  text: string;
  bytes: number;
  droppedBytes: number;
}

export class LogLines {
  readonly lines: string[] = [];
  /** Of each writer that is in the middle of a line, the line's index. */
  readonly #open = new Map<string, number>();
  readonly #wrapLength: number;

  /** `wrapLength`: lines of models are broken there, so that they can be shown while they grow. */
  constructor(wrapLength = Infinity) {
    this.#wrapLength = wrapLength;
  }

  add(chunk: LogPiece): void {
    const writer = JSON.stringify([chunk.key, chunk.stream, chunk.attempt]);
    if (chunk.droppedBytes > 0) {
      this.#open.delete(writer);
      this.lines.push(`… ${chunk.droppedBytes.toLocaleString('en-US')} bytes dropped …`);
    }
    const pieces = chunk.text.split('\n');
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      this.#extend(writer, chunk.stream, piece);
      this.#open.delete(writer);
    }
    if (rest !== '') this.#extend(writer, chunk.stream, rest);
  }

  /** Lines up to here will not change any more. */
  get settled(): number {
    let settled = this.lines.length;
    for (const index of this.#open.values()) settled = Math.min(settled, index);
    return settled;
  }

  #extend(writer: string, stream: string, text: string): void {
    const index = this.#open.get(writer);
    const line = index === undefined ? markOf(stream) + text : `${this.lines[index] ?? ''}${text}`;
    const [first = '', ...others] = isModelStream(stream) ? wrapped(line, this.#wrapLength) : [line];
    if (index === undefined) this.#open.set(writer, this.lines.push(first) - 1);
    else this.lines[index] = first;
    for (const other of others) this.#open.set(writer, this.lines.push(other) - 1);
  }
}

/** Removes the carriage return of a CRLF. */
export function shown(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
