/**
 * The last `capacity` bytes of a stream. Bytes are copied into one buffer, so that a stream of
 * tiny chunks costs no more memory than one of large chunks; the buffer grows on demand.
 */
const INITIAL_BYTES = 4096;

export class ByteRing {
  readonly #capacity: number;
  #buffer: Buffer;
  #start = 0;
  #length = 0;
  /** Bytes that were pushed out. */
  dropped = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(capacity, INITIAL_BYTES));
  }

  get length(): number {
    return this.#length;
  }

  write(chunk: Uint8Array): void {
    const excess = Math.max(0, chunk.length - this.#capacity);
    const kept = chunk.subarray(excess);
    const wanted = this.#length + kept.length;
    if (wanted > this.#buffer.length) this.#grow(Math.min(wanted, this.#capacity));
    const pushed = Math.max(0, wanted - this.#buffer.length);
    this.#start = (this.#start + pushed) % this.#buffer.length;
    this.#length -= pushed;
    this.dropped += excess + pushed;
    this.#append(kept);
  }

  /** Pushes out all that it holds, and so many bytes after it. */
  drop(bytes: number): void {
    this.dropped += this.#length + bytes;
    this.#start = 0;
    this.#length = 0;
  }

  bytes(): Buffer {
    const end = this.#start + this.#length;
    const size = this.#buffer.length;
    if (end <= size) return Buffer.from(this.#buffer.subarray(this.#start, end));
    return Buffer.concat([this.#buffer.subarray(this.#start), this.#buffer.subarray(0, end - size)]);
  }

  #append(chunk: Uint8Array): void {
    const size = this.#buffer.length;
    const at = (this.#start + this.#length) % size;
    const first = Math.min(chunk.length, size - at);
    this.#buffer.set(chunk.subarray(0, first), at);
    this.#buffer.set(chunk.subarray(first), 0);
    this.#length += chunk.length;
  }

  #grow(atLeast: number): void {
    const size = Math.min(this.#capacity, Math.max(atLeast, this.#buffer.length * 2));
    if (size <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(size);
    this.bytes().copy(grown);
    this.#buffer = grown;
    this.#start = 0;
  }
}
