/** What nested runs of a simulation tell the run around them of standing still. */
import { NestedStillness, toTellAround } from '../stillness.ts';
import type { Walk } from '../walk-state.ts';

export class ToldNested {
  readonly #stillness = new NestedStillness();
  readonly #walk: () => Walk;
  readonly #around: ToldNested | undefined;
  readonly #changed: () => void;

  constructor(walk: () => Walk, around: ToldNested | undefined, changed: () => void) {
    this.#walk = walk;
    this.#around = around;
    this.#changed = changed;
  }

  tell(): void {
    const walk = this.#walk();
    const told = toTellAround(walk);
    if (told !== null) this.#around?.hear(walk.input.handle, told);
  }

  private hear(...told: [string, NonNullable<ReturnType<typeof toTellAround>>]): void {
    this.#stillness.hear(this.#walk(), ...told);
    this.tell();
    this.#changed();
  }

  ended({ input }: Walk): void {
    this.#stillness.ended(this.#walk(), input.handle);
  }
}
