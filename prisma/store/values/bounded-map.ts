/**
 * A map that forgets what was not used for longest once the sum of the weights passes its bound.
 * Something heavier than the bound is not kept at all.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, { value: Value; weight: number }>();
  readonly #weightMax: number;
  #weight = 0;

  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A Map iterates in order of insertion: what was used last goes to the end.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value, weight = 1): void {
    this.delete(key);
    if (weight > this.#weightMax) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
