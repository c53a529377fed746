/**
 * Whether another worker may have come to what this one is at: it has stood still (SIGSTOP, a machine that slept) for so
 * long that the server has waited for no sign of life any more.
 */

/** Somebody else goes on with it, or will. */
export class LeftBehind extends Error {
  override name = 'LeftBehind';
}

const lookMs = 1_000;
/** Less than what the server waits for a sign of life of a step. */
const stillMs = 8_000;
/** What begins so soon after it was handed over while nothing moved. */
const handedOverMs = 300;
/** For so long after it, what was meant for this process while it stood still may yet reach it, by way of its sockets. */
const arrivesMs = 60_000;

let lookedAt: number | undefined;
let stillUntil = Number.NEGATIVE_INFINITY;
/** The same by the clock of the machine, ms since 1970. */
let stillUntilTime = Number.NEGATIVE_INFINITY;

function look(): void {
  const now = performance.now();
  if (lookedAt !== undefined && now - lookedAt > stillMs) {
    stillUntil = now;
    stillUntilTime = Date.now();
  }
  lookedAt = now;
}

/** What is asked below is known from here on. */
export function watchForStandstill(): void {
  if (lookedAt === undefined) setInterval(look, lookMs).unref();
  look();
}

/** Of what begins now: answers later whether this process has stood still since. */
export function sinceNow(): () => boolean {
  watchForStandstill();
  const began = performance.now() - handedOverMs;
  return () => {
    look();
    return stillUntil >= began;
  };
}

export interface AttemptNow {
  /** Throws `LeftBehind` where another attempt may have begun meanwhile. */
  check: () => void;
  /** The server is told that it is alive. */
  sign: () => void;
}

/**
 * An attempt that begins now, and that the server scheduled at `scheduledAtMs` (ms since 1970). One that says nothing for
 * as long as one that stands still is taken for lost, too. Throws `LeftBehind` where it was scheduled before this process
 * moved again: it may have been handed over to it, and to somebody else since.
 */
export function attemptNow(scheduledAtMs: number): AttemptNow {
  const hasStoodStill = sinceNow();
  if (performance.now() - stillUntil < arrivesMs && scheduledAtMs <= stillUntilTime)
    throw new LeftBehind('its worker stood still when it was scheduled, and another attempt may have begun');
  let signedAt = performance.now();
  const check = (): void => {
    if (hasStoodStill()) throw new LeftBehind('its worker has stood still, and another attempt may have begun');
    if (performance.now() - signedAt > stillMs)
      throw new LeftBehind('it came to act too late, and another attempt may have begun');
  };
  check();
  return {
    check,
    sign: () => {
      signedAt = performance.now();
    },
  };
}
