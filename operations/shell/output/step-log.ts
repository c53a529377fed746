/**
 * The log of one step, or of a turn of a model: its streams on their way into the store.
 *
 * Invariants: at most one write is in flight, and its chunks are sent again until it succeeds
 * (chunks are idempotent by part); memory is bounded by a head and a tail of each stream whatever the
 * streams and the store do, so the process is never held up by the log.
 */
import { StringDecoder } from 'node:string_decoder';
import { defined } from '../../../language/defined.ts';
import type { LogChunk, Store } from '../../../prisma/store/contract/contract.ts';
import type { ModelStream } from '../../../language/models/model-streams.ts';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import { ByteRing } from './byte-ring.ts';
import type { BegunLog } from './log-begun.ts';
import { headCut, nextBoundary, storable } from './utf8.ts';

export type StreamName = 'stdout' | 'stderr';
/** Of a process, or of a model. */
type LoggedStream = StreamName | ModelStream;
export interface LogLabel {
  handle: string;
  key: string;
  attempt: number;
}

/** One stream: `head` counts down, then everything goes through the tail's ring. */
interface StreamState {
  headLeft: number;
  decoder: StringDecoder;
  /** Of the bytes that its process wrote, those that the log has. */
  readBytes: number | undefined;
  tail: { part: number; ring: ByteRing; isDirty: boolean; writtenAt: number } | null;
}

const openStream = (): StreamState => ({
  headLeft: SHELL_BOUNDS.logHeadBytes,
  decoder: new StringDecoder('utf8'),
  readBytes: undefined,
  tail: null,
});

export class StepLog {
  readonly #sink: Pick<Store['logs'], 'append'>;
  readonly #label: LogLabel;
  readonly #fence: number | undefined;
  readonly #streams = new Map<LoggedStream, StreamState>();
  #pending: LogChunk[] = [];
  #pendingBytes = 0;
  #part = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  #writing: Promise<void> | undefined;
  #isFinishing = false;
  #giveUp = new AbortController();
  #isLost = false;

  /** `fence`: nothing more of it is written once there is a log of the step by a later attempt. */
  constructor(
    sink: Pick<Store['logs'], 'append'>,
    label: LogLabel,
    { fence, begun }: { fence?: number; begun?: BegunLog } = {},
  ) {
    this.#sink = sink;
    this.#label = label;
    this.#fence = fence;
    if (begun !== undefined) this.#goOnFrom(begun);
  }

  /** `readBytes`: with it the log stands for so many bytes of what the process has written. */
  write(name: LoggedStream, chunk: Buffer, readBytes?: number): void {
    const stream = this.#streams.get(name) ?? openStream();
    this.#streams.set(name, stream);
    let rest = chunk;
    if (stream.tail === null) {
      const cut = headCut(chunk, stream.headLeft);
      stream.headLeft -= cut;
      const text = stream.decoder.write(chunk.subarray(0, cut));
      if (readBytes !== undefined) stream.readBytes = readBytes - (chunk.length - cut) - heldBy(stream.decoder);
      this.#addText(name, text);
      rest = chunk.subarray(cut);
    }
    if (rest.length > 0) {
      if (readBytes !== undefined) stream.readBytes = readBytes;
      stream.tail ??= {
        part: this.#nextPart(),
        ring: new ByteRing(SHELL_BOUNDS.logTailBytes),
        isDirty: false,
        writtenAt: Date.now(),
      };
      stream.tail.ring.write(rest);
      stream.tail.isDirty = true;
    }
    this.#schedule();
  }

  /** So many bytes are dropped from its end: they are on no disk any more. */
  drop(name: StreamName, bytes: number): void {
    if (bytes > 0) this.#streams.get(name)?.tail?.ring.drop(bytes);
  }

  /** Writes what is left. False when the store did not take it within `giveUpMs`. */
  async finish(giveUpMs: number): Promise<boolean> {
    for (const [name, { decoder }] of this.#streams) this.#addText(name, decoder.end());
    return this.leave(giveUpMs);
  }

  /** The same where another writer goes on with it: a character that is not whole yet is that one's to write. */
  async leave(giveUpMs: number): Promise<boolean> {
    this.#isFinishing = true;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.giveUp(), giveUpMs);
    try {
      await this.#writing;
      while (this.#hasWork() && !this.#giveUp.signal.aborted) await this.#flush();
      return !this.#isLost && !this.#hasWork();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends all waiting for the store; what is not written by now is lost. */
  giveUp(): void {
    this.#giveUp.abort();
  }

  #goOnFrom({ nextPart, streams }: BegunLog): void {
    this.#part = nextPart;
    for (const name of ['stdout', 'stderr'] as const) {
      const { headLeft, tail } = streams[name];
      const stream = { ...openStream(), headLeft };
      this.#streams.set(name, stream);
      if (tail === null) continue;
      const ring = new ByteRing(SHELL_BOUNDS.logTailBytes);
      ring.drop(tail.droppedBytes);
      stream.tail = { part: tail.part, ring, isDirty: false, writtenAt: Date.now() };
    }
  }

  #nextPart(): number {
    this.#part += 1;
    return this.#part - 1;
  }

  #addText(stream: LoggedStream, raw: string): void {
    if (raw === '') return;
    const text = storable(raw);
    const last = this.#pending.at(-1);
    const read = defined({ readBytes: this.#streams.get(stream)?.readBytes });
    this.#pendingBytes += text.length;
    if (last?.stream === stream && last.text.length + text.length <= SHELL_BOUNDS.logChunkBytes)
      Object.assign(last, { text: last.text + text, ...read });
    else this.#pending.push({ ...this.#label, stream, part: this.#nextPart(), text, droppedBytes: 0, ...read });
  }

  #schedule(): void {
    if (this.#writing !== undefined || this.#isFinishing) return;
    if (this.#pendingBytes >= SHELL_BOUNDS.logChunkBytes) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#startFlush();
      return;
    }
    const waitMs = this.#pendingBytes > 0 ? SHELL_BOUNDS.logFlushMs : SHELL_BOUNDS.logTailMs;
    if (this.#timer !== undefined && this.#timerMs <= waitMs) return;
    clearTimeout(this.#timer);
    this.#timerMs = waitMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#startFlush();
    }, waitMs);
  }

  #startFlush(): void {
    if (this.#writing !== undefined || this.#isFinishing) return;
    this.#writing = this.#flush().then(() => {
      this.#writing = undefined;
      if (this.#hasWork()) this.#schedule();
    });
  }

  #hasWork(): boolean {
    return this.#pending.length > 0 || [...this.#streams.values()].some(({ tail }) => tail?.isDirty === true);
  }

  /** Sends what waits; never rejects: it tries again until it succeeds or is given up. */
  async #flush(): Promise<void> {
    const chunks = [...this.#pending, ...this.#dueTails()];
    let retryMs: number = SHELL_BOUNDS.logRetryMs;
    // A chunk that is being written must not grow any more.
    this.#pending = [];
    this.#pendingBytes = 0;
    while (chunks.length > 0) {
      try {
        await withGiveUp(this.#sink.append(chunks, this.#fence), this.#giveUp.signal);
        return;
      } catch {
        // Whatever the store said, these chunks are all we can offer: wait, and offer them again.
        if (this.#giveUp.signal.aborted) break;
        await pause(retryMs, this.#giveUp.signal);
        retryMs = Math.min(retryMs * 2, SHELL_BOUNDS.logRetryMsMax);
      }
    }
    this.#isLost ||= chunks.length > 0;
  }

  #dueTails(): LogChunk[] {
    const now = Date.now();
    const due: LogChunk[] = [];
    for (const [name, { tail, readBytes }] of this.#streams) {
      if (tail === null || !tail.isDirty) continue;
      if (!this.#isFinishing && now - tail.writtenAt < SHELL_BOUNDS.logTailMs) continue;
      const bytes = tail.ring.bytes();
      const start = tail.ring.dropped > 0 ? nextBoundary(bytes, 0) : 0;
      tail.isDirty = false;
      tail.writtenAt = now;
      const text = storable(bytes.toString('utf8', start));
      const droppedBytes = tail.ring.dropped + start;
      due.push({ ...this.#label, stream: name, part: tail.part, text, droppedBytes, ...defined({ readBytes }) });
    }
    return due;
  }
}

/** Bytes of a character that is not whole yet. */
function heldBy(decoder: StringDecoder): number {
  const { lastNeed, lastTotal } = decoder as StringDecoder & { lastNeed: number; lastTotal: number };
  return lastNeed === 0 ? 0 : lastTotal - lastNeed;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

/** A write that hangs (a connection to a host that has gone) must not outlast the giving up. */
function withGiveUp(writing: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('the log was given up while a write was waiting'));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    writing.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
