/**
 * Rows by their key, for all sessions of a store: what one callback of the event loop asks for, with the
 * promises that it settles, or what is asked for while a statement is under way, goes out as one
 * statement. A database that is far, or busy, is given a second statement meanwhile. DataLoader collects
 * the keys of a statement; when it goes out is decided here.
 *
 * Invariants: each who asks gets a row of its own, also of the same key. Whoever asks alone waits for
 * nobody. A statement that fails fails for all who shared it, and for no others.
 */
import DataLoader from 'dataloader';
import type { KeyedRead } from '../contract/session-contract.ts';

type Query = (text: string, values: readonly unknown[]) => Promise<object[]>;
type Key = readonly string[];
type Loader = DataLoader<Key, object | undefined>;

/** Where an answer takes as long, half of it is worth more than what waiting for it would share. */
const FAR_MS = 5;
/** A statement's answer is held in memory as a whole. */
const KEYS_MAX = 100;

/** Rows by these keys, each of them once. */
export function keyedStatement({ text, within }: KeyedRead, keys: readonly Key[]): { text: string; values: unknown[] } {
  const first = keys[0] ?? [];
  const last = first.length - 1;
  const isWithin = keys.every((key) => key.every((part, nth) => nth === last || part === first[nth]));
  if (within !== undefined && isWithin)
    return { text: within, values: [...first.slice(0, last), keys.map((key) => key[last])] };
  return { text, values: first.map((_, nth) => keys.map((key) => key[nth])) };
}

export class SharedReads {
  readonly #query: Query;
  readonly #loaders = new WeakMap<KeyedRead, Loader>();
  /** Batches that wait for their turn. */
  readonly #due = new Map<KeyedRead, (() => void)[]>();
  #underWay = 0;
  #answeredInMs = 0;
  #isPlanned = false;

  constructor(query: Query) {
    this.#query = query;
  }

  /** The row, or undefined where there is none. */
  find<Row extends object>(read: KeyedRead, key: Key): Promise<Row | undefined> {
    let loader = this.#loaders.get(read);
    if (loader === undefined) {
      loader = this.#loaderOf(read);
      this.#loaders.set(read, loader);
    }
    return loader.load(key) as Promise<Row | undefined>;
  }

  #loaderOf(read: KeyedRead): Loader {
    return new DataLoader((keys) => this.#send(read, keys), {
      cache: false,
      maxBatchSize: KEYS_MAX,
      batchScheduleFn: (dispatch) => {
        const due = this.#due.get(read);
        if (due === undefined) this.#due.set(read, [dispatch]);
        else due.push(dispatch);
        this.#plan();
      },
    });
  }

  get #isFull(): boolean {
    return this.#underWay >= (this.#answeredInMs < FAR_MS ? 1 : 2);
  }

  /** Once all who ask in this callback have asked. */
  #plan(): void {
    if (this.#isPlanned || this.#isFull || this.#due.size === 0) return;
    this.#isPlanned = true;
    process.nextTick(() => {
      this.#isPlanned = false;
      for (const [read, due] of this.#due) {
        if (this.#isFull) break;
        const dispatch = due.shift();
        this.#due.delete(read);
        // What is left waits behind the other reads.
        if (due.length > 0) this.#due.set(read, due);
        dispatch?.();
      }
      this.#plan();
    });
  }

  async #send(read: KeyedRead, asked: readonly Key[]): Promise<(object | undefined)[]> {
    const askedAt = performance.now();
    this.#underWay += 1;
    try {
      const places = new Map<string, number>();
      const keys: Key[] = [];
      const asking = asked.map((key) => {
        const name = JSON.stringify(key);
        const isFirst = !places.has(name);
        if (isFirst) places.set(name, keys.push(key));
        return { place: places.get(name) ?? 0, isFirst };
      });
      const { text, values } = keyedStatement(read, keys);
      const rows = (await this.#query(text, values)) as { place: number }[];
      const found = new Map(rows.map((row) => [row.place, row]));
      return asking.map(({ place, isFirst }) => (isFirst ? found.get(place) : structuredClone(found.get(place))));
    } finally {
      this.#underWay -= 1;
      this.#answeredInMs = performance.now() - askedAt;
      this.#plan();
    }
  }
}
