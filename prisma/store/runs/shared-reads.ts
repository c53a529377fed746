/**
 * Rows by their key, for all sessions of a store: what one callback of the event loop asks for, with the
 * promises that it settles, or what is asked for while a statement is under way, goes out as one
 * statement. A database that is far, or busy, is given a second statement meanwhile.
 *
 * Invariants: each who asks gets a row of its own, also of the same key. Whoever asks alone waits for
 * nobody. A statement that fails fails for all who shared it, and for no others.
 */
import type { KeyedRead } from '../contract/contract.ts';

type Query = (text: string, values: readonly unknown[]) => Promise<object[]>;

interface Asked {
  key: readonly string[];
  resolve: (row: object | undefined) => void;
  reject: (error: unknown) => void;
}

/** Where an answer takes as long, half of it is worth more than what waiting for it would share. */
const FAR_MS = 5;
/** A statement's answer is held in memory as a whole. */
const KEYS_MAX = 100;

/** Rows by these keys, each of them once. */
export function keyedStatement(
  { text, within }: KeyedRead,
  keys: readonly (readonly string[])[],
): { text: string; values: unknown[] } {
  const first = keys[0] ?? [];
  const last = first.length - 1;
  const isWithin = keys.every((key) => key.every((part, nth) => nth === last || part === first[nth]));
  if (within !== undefined && isWithin)
    return { text: within, values: [...first.slice(0, last), keys.map((key) => key[last])] };
  return { text, values: first.map((_, nth) => keys.map((key) => key[nth])) };
}

export class SharedReads {
  readonly #query: Query;
  readonly #asked = new Map<KeyedRead, Asked[]>();
  #underWay = 0;
  #answeredInMs = 0;
  #isPlanned = false;

  constructor(query: Query) {
    this.#query = query;
  }

  /** The row, or undefined where there is none. */
  find<Row extends object>(read: KeyedRead, key: readonly string[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const others = this.#asked.get(read);
      const asked: Asked = { key, resolve: (row) => resolve(row as Row | undefined), reject };
      if (others === undefined) this.#asked.set(read, [asked]);
      else others.push(asked);
      this.#plan();
    });
  }

  get #isFull(): boolean {
    return this.#underWay >= (this.#answeredInMs < FAR_MS ? 1 : 2);
  }

  /** Once all who ask in this callback have asked. */
  #plan(): void {
    if (this.#isPlanned || this.#isFull || this.#asked.size === 0) return;
    this.#isPlanned = true;
    process.nextTick(() => {
      this.#isPlanned = false;
      for (const [read, waiting] of this.#asked) {
        if (this.#isFull) break;
        const asked = waiting.splice(0, KEYS_MAX);
        this.#asked.delete(read);
        // What is left waits behind the other reads.
        if (waiting.length > 0) this.#asked.set(read, waiting);
        void this.#send(read, asked);
      }
      this.#plan();
    });
  }

  async #send(read: KeyedRead, asked: readonly Asked[]): Promise<void> {
    const askedAt = performance.now();
    this.#underWay += 1;
    try {
      const places = new Map<string, number>();
      const keys: (readonly string[])[] = [];
      const asking = asked.map(({ key, resolve }) => {
        const name = JSON.stringify(key);
        const isFirst = !places.has(name);
        if (isFirst) places.set(name, keys.push(key));
        return { place: places.get(name) ?? 0, isFirst, resolve };
      });
      const { text, values } = keyedStatement(read, keys);
      const rows = (await this.#query(text, values)) as { place: number }[];
      const found = new Map(rows.map((row) => [row.place, row]));
      for (const { place, isFirst, resolve } of asking)
        resolve(isFirst ? found.get(place) : structuredClone(found.get(place)));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#answeredInMs = performance.now() - askedAt;
      this.#plan();
    }
  }
}
