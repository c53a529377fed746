/**
 * Rows by their key, for all sessions of a store: what is asked for in one turn of the event loop, or
 * while statements are under way, goes out as one statement.
 *
 * Invariants: each who asks gets a row of its own, also of the same key. Whoever asks alone waits for
 * nobody. A statement that fails fails for all who shared it, and for no others.
 */
import type { KeyedRead } from './contract.ts';

type Query = (text: string, values: readonly unknown[]) => Promise<object[]>;

interface Asked {
  key: readonly string[];
  resolve: (row: object | undefined) => void;
  reject: (error: unknown) => void;
}

/** While one is answered the next is being read; more would share less. */
const UNDER_WAY_MAX = 2;
/** A statement's answer is held in memory as a whole. */
const KEYS_MAX = 100;

export class SharedReads {
  readonly #query: Query;
  readonly #asked = new Map<KeyedRead, Asked[]>();
  #underWay = 0;
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

  /** Once all who ask in this turn have asked. */
  #plan(): void {
    if (this.#isPlanned || this.#underWay >= UNDER_WAY_MAX || this.#asked.size === 0) return;
    this.#isPlanned = true;
    process.nextTick(() => {
      this.#isPlanned = false;
      for (const [read, waiting] of this.#asked) {
        if (this.#underWay >= UNDER_WAY_MAX) break;
        const asked = waiting.splice(0, KEYS_MAX);
        if (waiting.length === 0) this.#asked.delete(read);
        void this.#send(read, asked);
      }
      this.#plan();
    });
  }

  async #send(read: KeyedRead, asked: readonly Asked[]): Promise<void> {
    this.#underWay += 1;
    try {
      const parts = asked[0]?.key ?? [];
      const rows = (await this.#query(read.text, parts.map((_, nth) => asked.map(({ key }) => key[nth])))) as { place: number }[];
      const found = new Map(rows.map((row) => [row.place, row]));
      asked.forEach(({ resolve }, nth) => resolve(found.get(nth + 1)));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#plan();
    }
  }
}
