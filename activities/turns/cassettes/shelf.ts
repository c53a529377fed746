/** The cassettes of the runs that are being replayed here, each read once. */
import { LRUCache } from 'lru-cache';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { readCassette, type Cassette } from '../../../world/models/cassette/cassette.ts';
import type { Replay } from './player.ts';

const RUNS_MAX = 10_000;
const CASSETTES_MAX = 16;

export class Shelf {
  readonly #store: Pick<Store, 'cassettes' | 'payloads'>;
  readonly #replays = new LRUCache<string, { replay: Promise<Replay | null> }>({ max: RUNS_MAX });
  readonly #read = new LRUCache<string, Promise<Cassette>>({ max: CASSETTES_MAX });

  constructor(store: Pick<Store, 'cassettes' | 'payloads'>) {
    this.#store = store;
  }

  /** Null where the run's models are asked. It was said before the run started, and stays. */
  async of(handle: string): Promise<Replay | null> {
    const known = this.#replays.get(handle) ?? { replay: this.#find(handle) };
    this.#replays.set(handle, known);
    try {
      return await known.replay;
    } catch (error) {
      this.#replays.delete(handle);
      throw error;
    }
  }

  async #find(handle: string): Promise<Replay | null> {
    const replayed = await this.#store.cassettes.replayed(handle);
    if (replayed === null) return null;
    const { root, cassette: hash } = replayed;
    const reading = this.#read.get(hash) ?? this.#cassette(hash);
    this.#read.set(hash, reading);
    try {
      return { root, cassette: await reading };
    } catch (error) {
      this.#read.delete(hash);
      throw error;
    }
  }

  async #cassette(hash: string): Promise<Cassette> {
    const content = await this.#store.payloads.get(hash);
    const read = content === null ? null : readCassette(Buffer.from(content).toString('utf8'));
    if (read?.ok !== true) throw new Error(`bug: the cassette ${hash} was stored and cannot be read`);
    return read.cassette;
  }
}
