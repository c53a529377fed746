/** What a kept process prints, as it comes and from where somebody else has read it. */
import { join } from 'node:path';
import type { KeptFolder } from './kept-folder.ts';
import { Tail } from './tail.ts';

export type KeptStream = 'stdout' | 'stderr';
/** `end`: how many bytes of the stream there were up to the end of the piece. */
export type HearKept = (stream: KeptStream, piece: Buffer, end: number) => void;

const FILES: Readonly<Record<KeptStream, string>> = { stdout: 'out', stderr: 'err' };
const STREAMS = ['stdout', 'stderr'] as const;
const lookMs = 50;
/** In one go, so that what else the worker has to do is not kept waiting. */
const bytesAtOnce = 1024 * 1024;
const noteEveryBytes = 1024 * 1024;

export class KeptStreams {
  readonly #folder: KeptFolder;
  readonly #tails: Readonly<Record<KeptStream, Tail>>;
  #hear: HearKept = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #notedBytes = 0;
  #isClosed = false;

  constructor(folder: KeptFolder) {
    this.#folder = folder;
    this.#tails = {
      stdout: new Tail(join(folder.path, FILES.stdout)),
      stderr: new Tail(join(folder.path, FILES.stderr)),
    };
  }

  /** What was read before, up to this byte of the stream. */
  replay(stream: KeptStream, until: number, hear: HearKept): void {
    const tail = this.#tails[stream];
    if (until > tail.offset) tail.read(until - tail.offset, (piece) => hear(stream, piece, tail.offset));
  }

  /** Leaves out what stands before it: of a stream so long that only its start and its end are kept. */
  skip(stream: KeptStream, to: number): number {
    const tail = this.#tails[stream];
    const skipped = Math.max(0, to - tail.offset);
    tail.offset += skipped;
    return skipped;
  }

  follow(hear: HearKept): void {
    this.#hear = hear;
    this.#timer = setInterval(() => this.#look(), lookMs);
  }

  /** All that there is by now. */
  drain(): void {
    if (this.#isClosed) return;
    for (const stream of STREAMS) while (!this.#readPart(stream));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearImmediate(this.#soon);
    for (const stream of STREAMS) this.#tails[stream].close();
  }

  #look(): void {
    this.#soon = undefined;
    if (this.#isClosed) return;
    const parts = STREAMS.map((stream) => this.#readPart(stream));
    if (parts.includes(false)) this.#soon ??= setImmediate(() => this.#look());
    const { stdout, stderr } = this.#tails;
    if (stdout.offset + stderr.offset - this.#notedBytes < noteEveryBytes) return;
    this.#notedBytes = stdout.offset + stderr.offset;
    this.#folder.noteRead(stdout.offset, stderr.offset);
  }

  #readPart(stream: KeptStream): boolean {
    const tail = this.#tails[stream];
    return tail.read(bytesAtOnce, (piece) => this.#hear(stream, piece, tail.offset));
  }
}
