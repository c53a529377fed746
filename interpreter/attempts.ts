/**
 * One step, tried as often as its `retry` says.
 *
 * - Every attempt has keys of its own, and a step that holds others begins anew: nothing of an
 *   attempt before it is in its frames.
 * - The failure of an attempt stands in the frame until it is decided what becomes of it, so the
 *   pause before the next attempt, and a question about it, survive whatever the run does meanwhile.
 * - A stop ends the run at the pause, and so does the end of its time: it never waits for attempts
 *   that will not begin.
 */
import { isAbort, isHeldBack, type FailureInfo } from '../language/failure.ts';
import type { Retry, Step } from '../language/model.ts';
import { drive, wait, type Walking } from './drive.ts';
import { isTriedAgain, retryOf } from './retries.ts';
import { escalateFailure } from './escalation.ts';
import { isCancelled, type Gate, type Strand } from './host.ts';
import type { Flow, Place } from './effect.ts';
import { stepKey } from './keys.ts';
import { record, type Walk } from './walk-state.ts';
import { remainingMs, runningMs } from './limits.ts';
import { askedIn, openIn, type BlockFrame, type FailedFrame, type OpenFrame, type RestingFrame } from './position.ts';
import { waitForTurn } from './held-back.ts';
import { takeRest } from './waits.ts';
import { stepPath } from './edited-paths.ts';
import { settleStep, warnOfRepeat } from './step-doubt.ts';

export const AGAIN = 'again';
/** No attempt is used up: nothing of it has happened, or nobody knows whether anything has. */
export const AFRESH = 'afresh';
/** The definition was edited while the step waited to begin: what stands there is read anew. */
export const ANEW = 'anew';

/** Where a step stands, in the attempt that its frame is at. */
function placeOf(walk: Walk, step: Step, block: string, passes: readonly number[], frame: BlockFrame): Place {
  const marked = stepPath(walk, block, frame);
  const retry = retryOf(step);
  const { attempt = 1, waits = 0 } = frame;
  // A persona may have it tried once more, and no attempt is left then, either.
  const attemptsLeft = retry === null ? 0 : Math.max(0, retry.attempts - (attempt - waits));
  return { path: marked, passes, key: stepKey(marked, passes), attemptsLeft };
}

export function* walkAttempts(
  walk: Walk,
  strand: Strand,
  step: Step,
  at: { block: string; passes: readonly number[]; frame: BlockFrame },
  attempt: (place: Place) => Walking<Flow | typeof ANEW>,
): Walking<Flow | typeof ANEW> {
  const { block, passes, frame } = at;
  for (;;) {
    const place = placeOf(walk, step, block, passes, frame);
    let failed = failedIn(frame);
    if (failed === null) {
      const flow = yield* attempt(place);
      if (flow === ANEW || flow.kind !== 'failed') return flow;
      failed = failedIn(frame) ?? { type: 'failed', failure: flow.failure, ...whereItStood(frame) };
      frame.step = failed;
    }
    if (failed.type === 'failed' && failed.doubt !== undefined) {
      const settled = yield* settleStep(walk, strand, step, place, frame, failed.doubt);
      if ('kind' in settled) return settled;
      begin(frame, AFRESH);
      frame.repeats = (frame.repeats ?? 0) + 1;
      warnOfRepeat(walk, placeOf(walk, step, block, passes, frame), step, settled.again);
      continue;
    }
    const next = yield* afterFailure(walk, strand, step, place, frame, failed);
    if (next !== AGAIN && next !== AFRESH) return next;
    begin(frame, next);
  }
}

/** Another attempt. */
function begin(frame: BlockFrame, how: typeof AGAIN | typeof AFRESH): void {
  delete frame.step;
  if (how === AFRESH) frame.waits = (frame.waits ?? 0) + 1;
  frame.attempt = (frame.attempt ?? 1) + 1;
}

const failedIn = ({ step }: BlockFrame): FailedFrame | RestingFrame | null =>
  step?.type === 'failed' || step?.type === 'resting' ? step : null;

function whereItStood(frame: BlockFrame): Pick<FailedFrame, 'failedIn'> {
  const stood = openIn(frame) ?? askedIn(frame);
  return stood === undefined ? {} : { failedIn: stood };
}

function* afterFailure(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  frame: BlockFrame,
  failed: FailedFrame | RestingFrame,
): Walking<Flow | typeof AGAIN | typeof AFRESH> {
  const { failure } = failed;
  if (isHeldBack(failure)) {
    const resting: RestingFrame = { ...failed, type: 'resting' };
    frame.step = resting;
    const gate = yield* waitForTurn(walk, strand, place.key, failure, resting);
    return gate === 'go' ? AFRESH : flowOf(gate);
  }
  if (isAbort(failure)) return { kind: 'failed', failure };
  const retry = retryOf(step);
  if (retry !== null && isTriedAgain(walk.input, step, place, failure)) {
    const backoff = Math.max(backoffMs(retry, (frame.attempt ?? 1) - (frame.waits ?? 0)), askedToWaitMs(failure));
    const resting: RestingFrame = { ...failed, type: 'resting' };
    frame.step = resting;
    const ms = Math.min(backoff, remainingMs(walk, strand) ?? backoff);
    const gate = yield* takeRest(walk, strand, `${place.key} again`, ms, resting);
    if (gate !== 'go') return flowOf(gate);
    if (step.type === 'condition') warn(walk, place, failure, 'is tried again');
    return AGAIN;
  }
  if (step.onError === 'skip') {
    warn(walk, place, failure, 'is skipped');
    return { kind: 'done' };
  }
  if (strand.forgiven === true || failure.asked === true) return { kind: 'failed', failure };
  return yield* escalateFailure(walk, strand, step, place, frame, failure);
}

/** A condition records its verdict and no end, so what became of its failure is said here. */
function warn(walk: Walk, place: Place, failure: FailureInfo, what: string): void {
  record(walk, {
    type: 'warning',
    key: place.key,
    code: failure.code,
    message: `${place.key} failed and ${what}: ${failure.message}`,
  });
}

/** What the provider of a model asks for. */
function askedToWaitMs({ details }: FailureInfo): number {
  const asked = details?.['retryAfterMs'];
  return typeof asked === 'number' ? asked : 0;
}

function backoffMs(retry: Retry, attempt: number): number {
  const { backoffMs: first = 1000, factor = 2, maxBackoffMs = Math.max(30_000, first) } = retry;
  return Math.min(maxBackoffMs, first * factor ** (attempt - 1));
}

export function flowOf(gate: Exclude<Gate, 'go'>): Flow {
  switch (gate) {
    case 'yield':
    case 'segment':
      return { kind: 'yield' };
    case 'stop':
      return { kind: 'stopped', limit: 'stop' };
    case 'cancel':
      return { kind: 'cancelled' };
    default:
      return gate satisfies never;
  }
}

/** Whether what fails inside a step is dealt with by the step itself. */
export function forgives(step: Step, place: Place): boolean {
  return (place.attemptsLeft ?? 0) > 0 || step.onError === 'skip';
}

/**
 * The inside of a step that holds others: forgiven where the step forgives, and within its
 * `timeoutMs`, after which everything in it is cancelled and the step has failed.
 */
export function* walkInside(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  open: OpenFrame,
  inside: (strand: Strand) => Walking<Flow>,
): Walking<Flow> {
  const { timeoutMs } = step;
  const isForgiven = strand.forgiven === true || forgives(step, place);
  if (timeoutMs === undefined)
    return yield* inside(
      isForgiven === (strand.forgiven ?? false)
        ? strand
        : { ...strand, cancelled: false, within: strand, forgiven: true },
    );
  open.since ??= runningMs(walk);
  const { since } = open;
  const leftMs = (): number => timeoutMs - (runningMs(walk) - since);
  const inner: Strand = { ...strand, cancelled: leftMs() <= 0, within: strand, forgiven: isForgiven, leftMs };
  const flow = yield* wait(walk.host.bound(inner, leftMs, () => drive(inside(inner), () => walk.host.suspended())));
  if (flow.kind !== 'cancelled' || !inner.cancelled || isCancelled(strand)) return flow;
  const message = `${place.key}: it did not end within its timeoutMs ${timeoutMs}; what ran inside was cancelled. Raise timeoutMs, or do less in it`;
  return { kind: 'failed', failure: { code: 'STEP_TIMEOUT', message, retryable: true } };
}
