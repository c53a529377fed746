/** Time that passes while nothing is done: how long a wait lasts, and rests that outlast their run. */
import type { Walking } from './drive.ts';
import { isCancelled, type Gate, type Strand, shieldOf, type WantedEvent } from './host.ts';
import { heldMs, type Walk, record } from './walk-state.ts';
import { holdAtLimit, limitReached, remainingMs } from './limits.ts';
import type { Step, WatchStep } from '../language/model.ts';
import { labelOf, readApproval, readEventPattern } from './build-effect.ts';
import { finish } from './results.ts';
import type { BlockFrame, Position } from './position.ts';
import { answerTo, withdrawOpen } from './questions.ts';
import { matchesEvent } from '../language/events/event-glob.ts';
import type { FailureInfo } from '../language/failure.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import { watchTimeoutMs } from '../language/limits.ts';
import { eventNameBytesMax, valueOfEvent, type PublishedEvent } from '../language/events/published-event.ts';
import type { Effect, Flow, Reply, Place } from './effect.ts';
import { away, resting } from './places.ts';

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
  isOwnLoop = false,
): Walking<Gate> {
  if (isCancelled(strand)) return 'cancel';
  const until = frame.restsUntil ?? walk.host.now() + ms;
  const left = Math.min(ms, until - walk.host.now());
  if (left <= 0 && frame.restsUntil !== undefined) {
    delete frame.restsUntil;
    return 'go';
  }
  const end = yield* resting(walk, strand, { ms: left, isOwnLoop }, () => walk.host.rest(key, left, strand));
  if (end === 'carry' || (end === 'yield' && walk.lines !== undefined)) {
    frame.restsUntil = until;
    return 'yield';
  }
  if (end === 'go') delete frame.restsUntil;
  return end;
}

/**
 * Steps that were waiting when the run continued as new. They have begun, so they are neither paid
 * for again nor left without an end when the run, or their branch, ends before they wait again.
 */

function isWaiting(step: Step, frame: BlockFrame): boolean {
  return (
    (step.type === 'approval' && frame.step?.type === 'asked') ||
    (step.type === 'watch' && frame.step?.type === 'awaiting-event') ||
    (step.type === 'sleep' && frame.step?.type === 'sleeping') ||
    (step.type === 'join' && frame.step?.type === 'joining') ||
    (step.type === 'llm' && frame.step?.type === 'model')
  );
}

const WAITING: ReadonlySet<string> = new Set(['asked', 'awaiting-event', 'sleeping', 'joining', 'model']);

/** It was counted when it began. */
export function isPaidFor(walk: Walk, step: Step, frame: BlockFrame): boolean {
  return walk.input.limits.budget !== undefined && isWaiting(step, frame);
}

/** An answer that was given holds, whatever has been said to the run since. */
export function isAnswered(walk: Walk, step: Step, { key }: Place, frame: BlockFrame): boolean {
  return step.type === 'approval' && frame.step?.type === 'asked' && answerTo(walk, key) !== undefined;
}

/** The run, or the branch, ends where it would have gone on waiting. */
export function endWait(walk: Walk, strand: Strand, step: Step, place: Place, frame: BlockFrame): void {
  const waits = frame.step;
  if (waits === undefined || !WAITING.has(waits.type)) return;
  withdrawOpen(walk, place.key);
  for (const { id } of walk.position.questions) if (id.startsWith(`${place.key}/`)) withdrawOpen(walk, id);
  if (!isWaiting(step, frame)) return;
  const began = 'startedAt' in waits ? waits.startedAt : 'since' in waits ? waits.since : undefined;
  finish(walk, strand, step, place, began ?? walk.host.now(), { cancelled: true }, labelNow(walk, strand, step, place));
}

function labelNow(walk: Walk, strand: Strand, step: Step, place: Place): string {
  if (step.type === 'approval') return readApproval(walk, strand, step, place).label;
  const pattern =
    step.type === 'watch' && step.event !== undefined ? readEventPattern(walk, strand, step.event, place).pattern : '';
  return step.type === 'watch' ? (step.name ?? pattern) : labelOf(step);
}

/**
 * Waiting for events: watches of an event, and loops over events.
 *
 * - W1 A run sees every matching event since it began that it has not consumed, in the order of
 *   delivery, and each once, whichever of its lines takes it. So emitting before a watch is reached
 *   loses nothing.
 * - W2 What was consumed is part of the position, as one number for each pattern: of the events that
 *   match the pattern, all up to there.
 * - W3 Waiting ends with an event, the step's own time, or the run's: a stop, a cancellation, a limit.
 *   When the run continues as new the wait goes on there, up to the same time; time the run is held
 *   does not count.
 */

/** Past these the pattern, or the process, that was longest unused is forgotten: what it took may come again. */
const cursorsMax = 500;

export type Caught = { event: PublishedEvent } | { late: true } | { flow: Flow };

interface Wanted {
  /** Key of the step or loop that waits. */
  key: string;
  pattern: string;
  /** Also the event that started the run. */
  withCause: boolean;
  /** By the clock as it stands now; null: as long as the run lasts. */
  until: (() => number) | null;
  /** What the line has had of them by itself; the run's other lines lose nothing by it. */
  own?: { [pattern: string]: number };
}

/** The next event that matches, which from then on is consumed. */
export function* catchEvent(
  walk: Walk,
  strand: Strand,
  { key, pattern, withCause, until, own }: Wanted,
): Walking<Caught> {
  for (;;) {
    if (isCancelled(strand)) return { flow: { kind: 'cancelled' } };
    const wanted: WantedEvent = {
      key,
      pattern,
      withCause,
      consumed: own ?? walk.position.consumed ?? {},
      ...(own === undefined ? {} : { isOwn: true as const }),
      untilMs: earlier(until?.() ?? null, endOfTime(walk, strand)),
    };
    const end = yield* away(walk, strand, () => walk.host.nextEvent(strand, wanted));
    if (typeof end !== 'string' && own !== undefined) return { event: end };
    if (typeof end !== 'string') {
      // A sibling may have taken it while it was on its way to this line.
      if (isConsumed(walk.position, end)) continue;
      consume(walk.position, pattern, end);
      return { event: end };
    }
    switch (end) {
      case 'yield':
        return { flow: { kind: 'yield' } };
      case 'stop':
        return { flow: { kind: 'stopped', limit: 'stop' } };
      case 'cancel':
        return { flow: { kind: 'cancelled' } };
      case 'late': {
        if (isPast(walk, until?.() ?? null) || isPast(walk, shieldOf(strand)?.until ?? null)) return { late: true };
        const limit = limitReached(walk);
        const flow = limit === null ? null : yield* holdAtLimit(walk, limit);
        if (flow !== null) return { flow };
        break;
      }
      default:
        return end satisfies never;
    }
  }
}

export const isPast = (walk: Walk, until: number | null): boolean => until !== null && walk.host.now() >= until;

export const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

export function endOfTime(walk: Walk, strand: Strand): number | null {
  const left = remainingMs(walk, strand);
  return left === null ? null : walk.host.now() + left;
}

export function isConsumed({ consumed = {} }: Pick<Position, 'consumed'>, { name, position }: PublishedEvent): boolean {
  return Object.entries(consumed).some(([pattern, upTo]) => position <= upTo && matchesEvent(pattern, name));
}

function consume(position: Position, pattern: string, event: PublishedEvent): void {
  position.consumed = withCursor(position.consumed, pattern, event.position);
}

function withCursor(
  cursors: { [name: string]: number } | undefined,
  name: string,
  at: number,
): { [name: string]: number } {
  const { [name]: _before, ...others } = cursors ?? {};
  return Object.fromEntries([...Object.entries(others), [name, at] as const].slice(-cursorsMax));
}

/** Null when events can have such names. */
export function refusedPattern(at: string, pattern: string): FailureInfo | null {
  if (pattern !== '' && pattern.length <= eventNameBytesMax) return null;
  const finding =
    pattern === ''
      ? 'the name of the event to wait for is empty'
      : `the name of the event to wait for has ${pattern.length} characters and ${eventNameBytesMax} are allowed`;
  return {
    code: 'EVENT_NAME_INVALID',
    message: `${at}: ${finding}; see what its references stand for here`,
    retryable: false,
  };
}

export function* walkEventWatch(
  walk: Walk,
  strand: Strand,
  step: WatchStep,
  place: Place,
  frame: BlockFrame,
): Walking<Flow> {
  const read = readEventPattern(walk, strand, step.event ?? '', place);
  const label = step.name ?? read.pattern;
  const refused = read.failure ?? refusedPattern(place.key, read.pattern);
  if (refused) return finish(walk, strand, step, place, walk.host.now(), { failure: refused }, label);
  let waits = frame.step;
  if (waits?.type !== 'awaiting-event') {
    const held = heldMs(walk);
    waits = { type: 'awaiting-event', since: walk.host.now(), ...(held > 0 ? { held } : {}) };
    frame.step = waits;
    walk.position.steps += 1;
    record(walk, { type: 'step-started', key: place.key, step: 'watch', label });
  }
  const startedAt = waits.since;
  const timeoutMs = Math.min(step.timeoutMs ?? watchTimeoutMs, walk.input.limits.stepTimeoutMs ?? watchTimeoutMs);
  const caught = yield* catchEvent(walk, strand, {
    key: place.key,
    pattern: read.pattern,
    withCause: false,
    until: deadline(walk, startedAt + timeoutMs, waits.held ?? 0),
  });
  if ('event' in caught)
    return finish(walk, strand, step, place, startedAt, { value: valueOfEvent(caught.event) }, label);
  if ('late' in caught) {
    const message = `${place.key}: no event "${read.pattern}" came within ${timeoutMs} ms; raise timeoutMs, or see who publishes it`;
    return finish(
      walk,
      strand,
      step,
      place,
      startedAt,
      { failure: { code: 'STEP_TIMEOUT', message, retryable: true } },
      label,
    );
  }
  const { flow } = caught;
  if (flow.kind !== 'yield') finish(walk, strand, step, place, startedAt, { cancelled: true }, label);
  return flow;
}

/** A watch for an error or a match goes on where the one before it ended. */
export function watchedUpTo({ watched = {} }: Position, executionId: string): number {
  return watched[executionId] ?? 0;
}

export function noteWatched(walk: Walk, effect: Effect, reply: Reply): void {
  if (effect.type !== 'watch' || !reply.ok || !isJsonObject(reply.value)) return;
  const { until, executionId } = effect.request;
  const last = lastLine(reply.value['lines']);
  if (until === undefined || until === 'finished' || last === null) return;
  walk.position.watched = withCursor(walk.position.watched, executionId, last);
}

function lastLine(lines: Json | undefined): number | null {
  const last = Array.isArray(lines) ? lines.at(-1) : undefined;
  const n = isJsonObject(last) ? last['n'] : undefined;
  return typeof n === 'number' ? n : null;
}
