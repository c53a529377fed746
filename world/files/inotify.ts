/**
 * What changes in folders, as the kernel says it: inotify of Linux, read by ourselves.
 *
 * - N1 An event is in the queue before the call that caused it has returned. So what a process wrote that has ended is
 *      read by the next `drain`: no file is written as a mark, and nothing is waited for.
 * - N2 A queue that ran over says so.
 *
 * Libraries for this tell of events later, in batches and in an order of their own, or leave out that the queue ran
 * over: what they have not said may have happened all the same.
 */
import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Bits of `inotify(7)`. */
const MODIFY = 0x2;
const ATTRIB = 0x4;
const CLOSE_WRITE = 0x8;
const MOVED_FROM = 0x40;
const MOVED_TO = 0x80;
const CREATE = 0x1_00;
const DELETE = 0x2_00;
const OVERFLOW = 0x40_00;
const IGNORED = 0x80_00;
const ONLYDIR = 0x1_00_00_00;
const DONT_FOLLOW = 0x2_00_00_00;

const WATCHED = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | ONLYDIR | DONT_FOLLOW;
const NAMES = MOVED_FROM | MOVED_TO | CREATE | DELETE;

/** `O_NONBLOCK | O_CLOEXEC`, as Linux has them on all machines that Node runs on. */
const FLAGS = 0o4000 | 0o2000000;

const headBytes = 16;
const bufferBytes = 256 * 1024;

interface Calls {
  init: (flags: number) => number;
  add: (inotify: number, path: string, mask: number) => number;
  remove: (inotify: number, watch: number) => number;
  read: (inotify: number, buffer: Buffer, bytes: number) => number;
}

interface ForeignFunctions {
  load(library: null): { func(signature: string): unknown };
}

let calls: Calls | null | undefined;

/** Null where they cannot be had: another system, or a library that is missing. */
function loadCalls(): Calls | null {
  if (process.platform !== 'linux') return null;
  try {
    const own = (createRequire(import.meta.url)('koffi') as ForeignFunctions).load(null);
    return {
      init: own.func('int inotify_init1(int flags)') as Calls['init'],
      add: own.func('int inotify_add_watch(int fd, const char *path, uint32_t mask)') as Calls['add'],
      remove: own.func('int inotify_rm_watch(int fd, int wd)') as Calls['remove'],
      read: own.func('int64_t read(int fd, _Out_ void *buffer, size_t bytes)') as Calls['read'],
    };
  } catch {
    return null;
  }
}

export interface FolderEvent {
  watch: number;
  /** In the folder; empty where it is about the folder itself. */
  name: string;
  /** It came or went. */
  isOfNames: boolean;
  /** Nothing is told of the folder any more. */
  isEnd: boolean;
}

export class Inotify {
  readonly #calls: Calls;
  readonly #buffer = Buffer.alloc(bufferBytes);
  #descriptor: number;

  private constructor(own: Calls, descriptor: number) {
    this.#calls = own;
    this.#descriptor = descriptor;
  }

  /** Null where there is none, or too many are open. */
  static open(): Inotify | null {
    if (calls === undefined) calls = loadCalls();
    const descriptor = calls?.init(FLAGS) ?? -1;
    return calls === null || descriptor < 0 ? null : new Inotify(calls, descriptor);
  }

  /** The number of the watch; null where there is no such folder, or too many are watched. */
  add(folder: string): number | null {
    const watch = this.#calls.add(this.#descriptor, folder, WATCHED);
    return watch < 0 ? null : watch;
  }

  remove(watch: number): void {
    this.#calls.remove(this.#descriptor, watch);
  }

  /** All that has happened until now; null where more had than the queue holds. */
  drain(): FolderEvent[] | null {
    const events: FolderEvent[] = [];
    let isWhole = true;
    for (;;) {
      const bytes = this.#calls.read(this.#descriptor, this.#buffer, bufferBytes);
      if (bytes <= 0) return isWhole ? events : null;
      for (let at = 0; at < bytes;) {
        const mask = this.#buffer.readUInt32LE(at + 4);
        const length = this.#buffer.readUInt32LE(at + 12);
        if ((mask & OVERFLOW) !== 0) isWhole = false;
        else events.push(this.#eventAt(at, mask, length));
        at += headBytes + length;
      }
    }
  }

  #eventAt(at: number, mask: number, length: number): FolderEvent {
    const name = this.#buffer.toString('utf8', at + headBytes, at + headBytes + length);
    const end = name.indexOf('\0');
    return {
      watch: this.#buffer.readInt32LE(at),
      name: end === -1 ? name : name.slice(0, end),
      isOfNames: (mask & NAMES) !== 0,
      isEnd: (mask & IGNORED) !== 0,
    };
  }

  close(): void {
    if (this.#descriptor >= 0) closeSync(this.#descriptor);
    this.#descriptor = -1;
  }
}
