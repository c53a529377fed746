/** Agent segments in flight: what the run is told meanwhile makes them hand back before their next turn. */
import { recorder } from './recording.ts';

export class Agents {
  readonly #handle: string;
  readonly #inFlight = new Set<string>();

  constructor(handle: string) {
    this.#handle = handle;
  }

  async during<Result>(key: string, pending: Promise<Result>): Promise<Result> {
    this.#inFlight.add(key);
    try {
      return await pending;
    } finally {
      this.#inFlight.delete(key);
    }
  }

  handBack(): void {
    for (const key of this.#inFlight) recorder.handBack(this.#handle, key);
  }
}
