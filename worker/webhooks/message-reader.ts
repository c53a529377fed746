/**
 * Reads messages of sources: small ones at once, large ones in threads, a few at a time, so that neither proving nor
 * parsing holds the event loop. What all of them keep in memory together is bounded.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ownRoot } from '../../services/home/package-root.ts';
import { Refusal } from './http-message.ts';
import { readMessage, WHOLE_BYTES_MAX, type MessageRead, type MessageTask } from './read-message.ts';

const THREADS_MAX = 2;
const HEAP_MIB_MAX = 512;
const HELD_BYTES_MAX = 128 * 1024 * 1024;

export interface ReadBody {
  read: MessageRead;
  body: Uint8Array;
}

export class MessageReader {
  #held = 0;
  #threads = 0;
  readonly #waiting: (() => void)[] = [];

  /** Throws where there are too many bytes in memory; `release` is to be called once the request is answered. */
  holding(): { hold: (bytes: number) => void; release: () => void } {
    let mine = 0;
    return {
      hold: (bytes) => {
        if (this.#held + bytes > HELD_BYTES_MAX)
          throw new Refusal(503, 'too much is being received at once; send it again later', 'WEBHOOK_NOT_STORED');
        mine += bytes;
        this.#held += bytes;
      },
      release: () => {
        this.#held -= mine;
        mine = 0;
      },
    };
  }

  async read(task: MessageTask): Promise<ReadBody> {
    if (task.body.length <= WHOLE_BYTES_MAX) return { read: await readMessage(task), body: task.body };
    if (this.#threads >= THREADS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#threads += 1;
    try {
      return await inThread(task);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#threads -= 1;
      else next();
    }
  }
}

function inThread(task: MessageTask): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(join(ownRoot, 'dist', 'worker', 'message-thread.js'), {
      workerData: task,
      transferList: [task.body.buffer as ArrayBuffer],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    });
    const refuse = (finding: string): void =>
      reject(new Refusal(422, `the body cannot be read: ${finding}`, 'WEBHOOK_BODY_INVALID'));
    thread.once('message', resolve);
    thread.once('error', (error: Error) => refuse(error.message));
    thread.once('exit', () => refuse('its thread ended'));
  });
}
