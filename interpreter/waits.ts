/** Time that passes while nothing is done: how long a wait lasts, and rests that outlast their run. */
import { wait, type Walking } from './drive.ts';
import { isCancelled, type Gate, type Strand } from './host.ts';
import type { Walk } from './walk-state.ts';
import { heldMs } from './limits.ts';

/** A time by the clock that moves on while the run is held; `held`: how long it had been when the time was set. */
export function deadline(walk: Walk, until: number, held: number): () => number {
  return () => {
    const since = heldMs(walk) - held;
    return since > 0 ? until + since : until;
  };
}

/** Rests, or takes what is left of a rest that was begun before the run continued as new. */
export function* takeRest(
  walk: Walk,
  strand: Strand,
  key: string,
  ms: number,
  frame: { restsUntil?: number },
): Walking<Gate> {
  if (isCancelled(strand)) return 'cancel';
  const until = frame.restsUntil ?? walk.host.now() + ms;
  const left = Math.min(ms, until - walk.host.now());
  if (left <= 0 && frame.restsUntil !== undefined) {
    delete frame.restsUntil;
    return 'go';
  }
  const end = yield* wait(walk.host.rest(key, left, strand));
  if (end === 'carry') {
    frame.restsUntil = until;
    return 'yield';
  }
  if (end === 'go') delete frame.restsUntil;
  return end;
}
