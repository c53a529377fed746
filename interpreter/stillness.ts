/**
 * A run stands still while it waits for a day on which its persona has budget again, or while a nested run that it waits
 * for does: no time of it passes, although nobody holds it. Other lines of it may go on meanwhile.
 *
 * A clean-up has its time by the clock: nothing in it has the run around stand still. Nor does a nested run that is
 * paused, or held at a limit of its own.
 */
import { heldMs, type Walk } from './walk-state.ts';
import type { Stillness, ToldAround } from './holds.ts';

/** What the run around a nested one is to be told; null: nothing new. */
export function toTellAround({ input, position }: Walk): ToldAround | null {
  if (input.awaited !== true) return null;
  const { word = 0, isStill: told = false } = position.toldAround ?? {};
  const isStill = position.still !== undefined;
  if (isStill === told) return null;
  position.toldAround = { word: word + 1, isStill };
  return position.toldAround;
}

/** One of its lines begins to wait for a day. */
export function lineStands(walk: Walk): void {
  change(walk, (still) => {
    still.lines += 1;
  });
}

export function lineGoesOn(walk: Walk): void {
  change(walk, (still) => {
    still.lines -= 1;
  });
}

/** What the nested runs that a run waits for say of themselves. */
export class NestedStillness {
  readonly #told = new Map<string, ToldAround>();

  /** Words of a run are numbered; they may arrive in any order. */
  hear(walk: Walk, handle: string, told: ToldAround): void {
    if (told.word <= (this.#told.get(handle)?.word ?? 0)) return;
    this.#told.set(handle, told);
    this.#weigh(walk);
  }

  ended(walk: Walk, handle: string): void {
    if (this.#told.delete(handle)) this.#weigh(walk);
  }

  #weigh(walk: Walk): void {
    const isAny = [...this.#told.values()].some(({ isStill }) => isStill);
    if (isAny === (walk.position.still?.withNested === true)) return;
    change(walk, (still) => {
      if (isAny) still.withNested = true;
      else delete still.withNested;
    });
  }
}

/** The time that it stood still is time that it was held, with the pauses in it. */
function change(walk: Walk, apply: (still: Stillness) => void): void {
  const { position, host } = walk;
  const still = (position.still ??= { since: host.now(), held: heldMs(walk), lines: 0 });
  apply(still);
  if (still.lines === 0) delete still.until;
  if (still.lines > 0 || still.withNested === true) return;
  const { paused } = position;
  // A pause that outlasts it counts its own time, from before it, too.
  position.pausedMs = heldMs(walk) - (paused === null ? 0 : host.now() - paused.since);
  delete position.still;
}
