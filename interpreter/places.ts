/**
 * The place of a run among those of its persona that may be at work at the same time.
 *
 * - A run has its place while one of its lines goes on: a step is under way, or a nested run, which takes none of its
 *   own. It leaves it when all of them wait: for a person, an event, a time, the next pass. It takes one again
 *   before a line goes on.
 * - Who has a place is kept by the host, for all runs of the persona. Runs have their turn in the order of asking.
 * - The wait for a place is time that the run is held: no limit counts it. A clean-up waits for none.
 */
import { placeRestMin } from '../language/limits.ts';
import { wait, type Walking } from './drive.ts';
import type { Flow } from './effect.ts';
import { shieldOf, type PlaceTurn, type Strand } from './host.ts';
import { heldMs, type Lines, record, type Walk } from './walk-state.ts';

/** Why a line cannot go on, although its wait is over. */
export type PlaceEnd = 'yield' | 'stop' | 'cancel';

/** Undefined: the run takes no place. */
export const firstLines = ({ places }: Walk['input']): Lines | undefined =>
  places === true ? { open: 1, waiting: 0, wanting: 0 } : undefined;

/** Whether a line may not go on before the run has a place. */
export const lacksPlace = ({ lines, position }: Walk, strand: Strand | null): boolean =>
  lines !== undefined && position.place?.taken !== true && (strand === null || shieldOf(strand) === null);

/** Whether the run waits for its place now. */
const awaitsPlace = ({ place }: Walk['position']): boolean => place !== undefined && place.taken !== true;

/** Whether no time of the run's limits passes now. */
export const standsStill = (position: Walk['position']): boolean =>
  position.paused !== null || position.still !== undefined || awaitsPlace(position);

/** Waits for what others do. Where all lines do, the place is left. */
export function* idle<End>(walk: Walk, pending: () => Promise<End>): Walking<End> {
  const { lines } = walk;
  if (lines === undefined) return yield* wait(pending());
  lines.waiting += 1;
  try {
    yield* leaveIfIdle(walk);
    return yield* wait(pending());
  } finally {
    lines.waiting -= 1;
  }
}

/** At a gate a run waits while it is held, and else for itself alone. */
export function* waitAtGate<End>(walk: Walk, pending: Promise<End>): Walking<End> {
  return walk.position.paused === null ? yield* wait(pending) : yield* idle(walk, () => pending);
}

const ENDS: ReadonlySet<unknown> = new Set(['yield', 'carry', 'stop', 'cancel']);

/** Waits as `idle` does; where the line goes on after that, the run has a place again. */
export function* away<End>(walk: Walk, strand: Strand | null, pending: () => Promise<End>): Walking<End | PlaceEnd> {
  return yield* withPlace(walk, strand, yield* idle(walk, pending));
}

/** Once a wait has ended as `end`. */
export function* withPlace<End>(walk: Walk, strand: Strand | null, end: End): Walking<End | PlaceEnd> {
  if (ENDS.has(end) || !lacksPlace(walk, strand)) return end;
  return (yield* takePlace(walk, strand)) ?? end;
}

/** A short rest keeps the place, unless the run is one that rests between its passes. */
export function* resting<End>(
  walk: Walk,
  strand: Strand,
  { ms, isOwnLoop }: { ms: number; isOwnLoop: boolean },
  pending: () => Promise<End>,
): Walking<End | PlaceEnd> {
  if (walk.lines === undefined || (ms < placeRestMin && !isOwnLoop)) return yield* wait(pending());
  return yield* away(walk, strand, pending);
}

/** Null: the run has a place. */
export function* takePlace(walk: Walk, strand: Strand | null): Walking<PlaceEnd | null> {
  const { lines, position } = walk;
  if (lines === undefined) return null;
  lines.wanting += 1;
  let end: PlaceEnd | null = null;
  try {
    if (lines.leaving !== undefined) yield* wait(lines.leaving);
    if (lacksPlace(walk, strand)) {
      position.place ??= { since: walk.host.now(), held: heldMs(walk) };
      const turn = yield* wait(walk.host.takePlace(strand, (standing) => tellWait(walk, standing)));
      if (turn === 'taken') taken(walk);
      else end = turn;
    }
  } finally {
    lines.wanting -= 1;
  }
  // A branch was cancelled, and no other wants to go on.
  if (end !== null && end !== 'yield' && lines.wanting === 0 && awaitsPlace(position)) {
    settleWait(walk);
    yield* leave(walk, lines);
  }
  return end;
}

/** Before lines are walked side by side in place of the one that waits for them. `goesOn`: false once they are to end. */
export function branched(walk: Walk, runners: Walking<void>[], goesOn: () => boolean): Walking<void>[] {
  const { lines } = walk;
  if (lines === undefined || runners.length === 0) return runners;
  lines.open += runners.length - 1;
  const left = { count: runners.length };
  return runners.map((runner) => counted(walk, lines, runner, () => (left.count -= 1) > 0, goesOn));
}

/** The last to end is followed by the line that waits for all. */
function* counted(
  walk: Walk,
  lines: Lines,
  runner: Walking<void>,
  leavesOthers: () => boolean,
  goesOn: () => boolean,
): Walking<void> {
  yield* runner;
  if (!leavesOthers()) return;
  lines.open -= 1;
  if (goesOn()) yield* leaveIfIdle(walk);
}

export const flowOfPlace = (end: PlaceEnd): Flow => {
  if (end === 'yield') return { kind: 'yield' };
  return end === 'stop' ? { kind: 'stopped', limit: 'stop' } : { kind: 'cancelled' };
};

function* leaveIfIdle(walk: Walk): Walking<void> {
  const { lines, position } = walk;
  if (lines === undefined || lines.waiting < lines.open || position.place?.taken !== true) return;
  yield* leave(walk, lines);
}

function* leave(walk: Walk, lines: Lines): Walking<void> {
  delete walk.position.place;
  const leaving = walk.host.leavePlace();
  lines.leaving = leaving;
  yield* wait(leaving);
  if (lines.leaving === leaving) delete lines.leaving;
}

function taken(walk: Walk): void {
  const { place } = walk.position;
  if (place === undefined || place.taken === true) return;
  if (place.ahead !== undefined) record(walk, { type: 'group', key: '', ...named(walk), state: 'taken' });
  settleWait(walk);
  walk.position.place = { taken: true };
}

/** The time of the wait is time that the run was held, with the pauses in it. */
function settleWait({ position, host }: Walk): void {
  const { place, paused } = position;
  if (place?.since === undefined) return;
  position.pausedMs = (place.held ?? 0) + Math.max(0, (paused?.since ?? host.now()) - place.since);
}

const named = ({ input }: Walk): { group: string; of: 'persona' } => ({ group: input.persona, of: 'persona' });

/** Said once; where the run stands by then is in the rows of the places. */
function tellWait(walk: Walk, { holder, ahead }: Extract<PlaceTurn, { state: 'waiting' }>): void {
  const { place } = walk.position;
  if (place === undefined || place.taken === true) return;
  const isTold = place.ahead !== undefined;
  place.ahead = ahead;
  if (isTold) return;
  const behind = holder === null ? {} : { holder };
  record(walk, { type: 'group', key: '', ...named(walk), state: 'waiting', ahead, ...behind });
}
