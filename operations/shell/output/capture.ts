/**
 * What a result keeps of a stream: its start, its end, and a line between them that says how much
 * was dropped. Memory is bounded whatever the stream does, and no character is cut in half.
 */
import { ByteRing } from './byte-ring.ts';
import { CONTINUATIONS_MAX, headCut, nextBoundary, storable } from './utf8.ts';

export class Capture {
  readonly #headMax: number;
  readonly #head: ByteRing;
  readonly #tail: ByteRing;
  #headIsFull = false;

  constructor(bytesMax: number) {
    this.#headMax = Math.ceil(bytesMax / 2);
    // Room for the rest of the character that the head's end falls into.
    this.#head = new ByteRing(this.#headMax + CONTINUATIONS_MAX);
    this.#tail = new ByteRing(Math.max(1, Math.floor(bytesMax / 2)));
  }

  write(chunk: Buffer): void {
    let rest = chunk;
    if (!this.#headIsFull) {
      const cut = headCut(chunk, this.#headMax - this.#head.length);
      this.#head.write(chunk.subarray(0, cut));
      rest = chunk.subarray(cut);
      this.#headIsFull = rest.length > 0;
    }
    if (rest.length > 0) this.#tail.write(rest);
  }

  /** So many bytes of the stream are dropped, with what its end was before them. */
  skip(bytes: number): void {
    if (bytes > 0) this.#tail.drop(bytes);
  }

  get isTruncated(): boolean {
    return this.#tail.dropped > 0;
  }

  text(): string {
    const head = this.#head.bytes();
    const tail = this.#tail.bytes();
    if (!this.isTruncated) return storable(Buffer.concat([head, tail]).toString('utf8'));
    const start = nextBoundary(tail, 0);
    const dropped = this.#tail.dropped + start;
    return storable(`${head.toString('utf8')}\n… ${dropped} bytes dropped …\n${tail.toString('utf8', start)}`);
  }

  /** The last `bytes` bytes. */
  end(bytes: number): string {
    const all = Buffer.concat([this.isTruncated ? Buffer.alloc(0) : this.#head.bytes(), this.#tail.bytes()]);
    const from = Math.max(0, all.length - bytes);
    return storable(all.toString('utf8', from === 0 && !this.isTruncated ? 0 : nextBoundary(all, from)));
  }
}
