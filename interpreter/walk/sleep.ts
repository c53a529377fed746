/**
 * A step that waits for a time, on the durable timer of its host.
 *
 * - When it wakes is read once, as it begins; while the run is held, a duration stands still, and a time
 *   that it waits until does not.
 * - It ends sooner with the run: a stop, a cancellation, a limit. When the run continues as new it sleeps on there.
 * - No usual timeout of a step bounds it, only one that is stated.
 */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json } from '../../language/json.ts';
import type { SleepStep } from '../../language/model.ts';
import { durationIn, DURATION_WORDS, missingDay, momentIn } from '../../language/references/times.ts';
import { textOf } from '../../language/expression/scope.ts';
import { labelOf, unresolvedFailure } from '../build-effect.ts';
import type { Walking } from '../drive.ts';
import type { Flow, Place } from '../effect.ts';
import { isCancelled, shieldOf, type Strand } from '../host.ts';
import { holdAtLimit, limitReached } from '../limits.ts';
import { namesAt, Reader } from '../names.ts';
import type { BlockFrame, SleepingFrame } from '../position.ts';
import { finish } from '../results.ts';
import { deadline, earlier, endOfTime, isPast } from '../waits.ts';
import { heldMs, record, type Walk } from '../walk-state.ts';
import { away } from '../places.ts';

/** The longest that a clock can tell. */
const farthest = 8_640_000_000_000_000;

export function* walkSleep(
  walk: Walk,
  strand: Strand,
  step: SleepStep,
  place: Place,
  frame: BlockFrame,
): Walking<Flow> {
  const label = labelOf(step);
  let open = frame.step;
  if (open?.type !== 'sleeping') {
    const since = walk.host.now();
    const read = readEnd(walk, strand, step, place);
    if ('code' in read) return finish(walk, strand, step, place, since, { failure: read }, label);
    open = { type: 'sleeping', since, ...read };
    frame.step = open;
    walk.position.steps += 1;
    record(walk, { type: 'step-started', key: place.key, step: 'sleep', label });
  }
  const { since, until } = open;
  const end = yield* sleepUntil(walk, strand, place.key, timesOf(walk, step, open));
  switch (end.kind) {
    case 'done':
      return finish(walk, strand, step, place, since, { value: { until: new Date(until).toISOString() } }, label);
    case 'late': {
      const message = `${place.key}: it was to wait longer than its time allows; raise timeoutMs, or wait for less`;
      return finish(
        walk,
        strand,
        step,
        place,
        since,
        { failure: { code: 'STEP_TIMEOUT', message, retryable: true } },
        label,
      );
    }
    case 'yield':
    case 'segment':
      return end;
    case 'failed':
    case 'stopped':
    case 'cancelled':
      finish(walk, strand, step, place, since, { cancelled: true }, label);
      return end;
    default:
      return end satisfies never;
  }
}

interface Times {
  wakes: () => number;
  /** What is stated of how long the step may take. */
  fails: (() => number) | null;
  /** When it wakes although the run stands still. */
  clockMs: number | null;
}

function timesOf(walk: Walk, step: SleepStep, { since, until, held }: SleepingFrame): Times {
  const most = earlier(step.timeoutMs ?? null, walk.input.limits.stepTimeoutMs);
  return {
    wakes: held === undefined ? () => until : deadline(walk, until, held),
    fails: most === null ? null : deadline(walk, since + most, held ?? 0),
    clockMs: held === undefined ? until : null,
  };
}

function* sleepUntil(
  walk: Walk,
  strand: Strand,
  key: string,
  { wakes, fails, clockMs }: Times,
): Walking<Flow | { kind: 'late' }> {
  for (;;) {
    if (isCancelled(strand)) return { kind: 'cancelled' };
    if (isPast(walk, wakes())) return { kind: 'done' };
    if (isPast(walk, earlier(fails?.() ?? null, shieldOf(strand)?.until ?? null))) return { kind: 'late' };
    const limit = shieldOf(strand) === null ? limitReached(walk) : null;
    const flow = limit === null ? null : yield* holdAtLimit(walk, limit);
    if (flow !== null) return flow;
    const untilMs = earlier(earlier(wakes(), fails?.() ?? null), endOfTime(walk, strand)) ?? wakes();
    const end = yield* away(walk, strand, () => walk.host.sleep(strand, key, untilMs, clockMs));
    if (end === 'yield') return { kind: 'yield' };
    if (end === 'stop') return { kind: 'stopped', limit: 'stop' };
    if (end === 'cancel') return { kind: 'cancelled' };
  }
}

const UNTIL_WORDS = 'a date or a time with its zone, such as "2026-01-31T08:00:00Z"';

/** When it wakes, by the clock. */
function readEnd(
  walk: Walk,
  strand: Strand,
  step: SleepStep,
  place: Place,
): Pick<SleepingFrame, 'until' | 'held'> | FailureInfo {
  const { key, passes, path } = place;
  const reader = new Reader(namesAt(walk, strand, passes, path));
  const written = step.durationMs ?? step.until ?? '';
  const value = typeof written === 'string' ? reader.value(written) : written;
  if (reader.fault) return { ...reader.fault, message: `${key}: ${reader.fault.message}`, retryable: false };
  // Anywhere else a warning would do; here nobody would know how long to wait.
  if (reader.unresolved.size > 0) return unresolvedFailure(key, [...reader.unresolved]);
  if (step.durationMs === undefined) {
    const until = momentIn(textOf(value));
    if (until !== null) return { until };
    const isNoDay = missingDay(textOf(value)) !== null;
    return invalid(key, 'until', value, isNoDay ? 'a day that there is' : UNTIL_WORDS);
  }
  const ms = typeof value === 'string' ? durationIn(value) : value;
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0)
    return invalid(key, 'durationMs', value, `${DURATION_WORDS}, and 0 or more`);
  return { until: Math.min(Math.round(walk.host.now() + ms), farthest), held: heldMs(walk) };
}

function invalid(key: string, name: string, value: Json, wanted: string): FailureInfo {
  const found = JSON.stringify(value).slice(0, 80);
  return {
    code: 'SLEEP_INVALID',
    message: `${key}: "${name}" is ${found}, and it must be ${wanted}`,
    retryable: false,
  };
}
