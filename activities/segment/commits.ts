/**
 * The commits of a segment, one after the other. What is ready when one begins goes out with it: the events so far, what
 * quick steps have written, where the strand stands, and the claims of steps that are about to act on the world.
 *
 * Invariant: where a commit says that the strand stands, all that quick steps have written is what brought it there. So
 * none of them is under way while one is made, and each that has ended has been walked past.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenSession } from '../../prisma/store/contract/contract.ts';

export class Commits {
  readonly #open: () => OpenSession;
  readonly #write: (session: OpenSession) => Promise<void>;
  #session: OpenSession;
  #quick = 0;
  #quickEnded: () => void = () => undefined;
  /** Begun, or about to begin; new quick steps wait for it. */
  #writing: Promise<void> | null = null;
  /** About to begin: whatever is ready by then is a part of it. */
  #next: Promise<void> | null = null;

  /** `write`: takes what there is at once, and commits it over the session. */
  constructor(open: () => OpenSession, write: (session: OpenSession) => Promise<void>) {
    this.#open = open;
    this.#write = write;
    this.#session = open();
  }

  /** Performs a quick step over the session of the next commit. */
  async quick<Result>(perform: (session: OpenSession) => Promise<Result>): Promise<Result> {
    while (this.#writing !== null) await this.#writing;
    this.#quick += 1;
    try {
      return await perform(this.#session);
    } finally {
      this.#quick -= 1;
      if (this.#quick === 0) this.#quickEnded();
    }
  }

  /** Resolves once all that there is now is committed. */
  flush(): Promise<void> {
    if (this.#next !== null) return this.#next;
    const before = this.#writing ?? Promise.resolve();
    const next = before.then(() => this.#commit());
    this.#next = next;
    this.#writing = next;
    return next.then(() => {
      if (this.#writing === next) this.#writing = null;
    });
  }

  /** The last one: all lines have ended, or go on elsewhere. */
  async end(): Promise<void> {
    if (this.#writing !== null) await this.#writing;
    await this.#write(this.#session);
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  async #commit(): Promise<void> {
    // Lines beside the one that asks come to where they ask, too, and walk past what has just ended.
    await nextTurn();
    while (this.#quick > 0) {
      await new Promise<void>((resolve) => {
        this.#quickEnded = resolve;
      });
      await nextTurn();
    }
    const session = this.#session;
    this.#session = this.#open();
    this.#next = null;
    await this.#write(session);
  }
}
