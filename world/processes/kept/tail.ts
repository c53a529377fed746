/** A stream that somebody else writes to a file, read from an offset on. */
import { closeSync, openSync, readSync } from 'node:fs';
import { STREAM_START } from './kept-folder.ts';

const PIECE_BYTES = 64 * 1024;

export class Tail {
  readonly #descriptor: number;
  /** Where the next read begins. */
  offset = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
  }

  /** Hands over what there is, up to `bytes` of it; whether that was all of it. */
  read(bytes: number, hear: (piece: Buffer) => void): boolean {
    for (let left = bytes; left > 0;) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
      const length = readSync(this.#descriptor, piece, 0, piece.length, STREAM_START + this.offset);
      if (length === 0) return true;
      this.offset += length;
      left -= length;
      hear(piece.subarray(0, length));
    }
    return false;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
