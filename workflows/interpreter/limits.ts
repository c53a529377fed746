/**
 * What bounds a run, and what happens at a bound: the run stops, or, with `onTimeout: "pause"`, it
 * is held; resuming it grants the same amount once more. Time spent held counts against nothing.
 */
import { commandTimeoutMs, continuousPassesMax, shellTimeoutMs } from '../../language/limits.ts';
import type { Definition, LoopConfig, Step } from '../../language/model.ts';
import { wait, type Walking } from './drive.ts';
import type { Flow, RunLimits } from './host.ts';
import type { Walk } from './ledger.ts';

export type Limit = 'maxIterations' | 'timeoutMs';

const smallest = (...values: (number | null | undefined)[]): number | null => {
  const present = values.filter((value) => value !== null && value !== undefined);
  return present.length === 0 ? null : Math.min(...present);
};

/** A run's limits: its own, and never more than what it inherits. */
export function limitsOf(definition: Definition, inherited: RunLimits | null): RunLimits {
  const { loop, safety } = definition;
  const bounded: { maxIterations?: number | undefined; timeoutMs?: number | undefined } = loop.type === 'once' ? {} : loop;
  return {
    maxIterations: smallest(safety?.maxIterations, bounded.maxIterations, inherited?.maxIterations),
    timeoutMs: smallest(definition.timeoutMs, safety?.timeoutMs, bounded.timeoutMs, inherited?.timeoutMs),
    stepTimeoutMs: smallest(safety?.maxStepTimeoutMs, inherited?.stepTimeoutMs),
    nestingDepth: smallest(safety?.maxNestingDepth, inherited?.nestingDepth),
  };
}

export function remainingMs(walk: Walk): number | null {
  const { timeoutMs } = walk.input.limits;
  if (timeoutMs === null) return null;
  const spent = runningMs(walk) - walk.input.startedAt;
  return Math.max(0, timeoutMs * (1 + walk.position.extensions.timeoutMs) - spent);
}

/** The clock without the time the run has been held, also while it is. */
export function runningMs(walk: Walk): number {
  const { pausedMs, paused } = walk.position;
  const now = walk.host.now();
  return now - pausedMs - (paused === null ? 0 : now - paused.since);
}

/** The limits a nested run inherits now; `timeoutMs` is the step's own bound on it. */
export function limitsLeft(walk: Walk, timeoutMs: number | undefined): RunLimits {
  return { ...walk.input.limits, timeoutMs: smallest(timeoutMs, remainingMs(walk)) };
}

export function limitReached(walk: Walk): Limit | null {
  return remainingMs(walk) === 0 ? 'timeoutMs' : null;
}

/** Passes the run's own loop may still make are used up. */
export function passesSpent(walk: Walk, config: LoopConfig, pass: number): boolean {
  const given = walk.input.limits.maxIterations;
  const bound = given ?? (config.type === 'continuous' ? continuousPassesMax : null);
  return bound !== null && pass >= bound * (1 + walk.position.extensions.maxIterations);
}

/** The flow that ends the run, or null when it may go on. */
export function* holdAtLimit(walk: Walk, limit: Limit): Walking<Flow | null> {
  if (walk.input.definition.safety?.onTimeout !== 'pause') return { kind: 'stopped', limit };
  const granted = walk.position.extensions[limit];
  const gate = yield* wait(walk.host.hold(`the limit ${limit} is reached`));
  switch (gate) {
    case 'go':
      // Branches held together are resumed together: the first to go on takes the one extension.
      if (walk.position.extensions[limit] === granted) walk.position.extensions[limit] += 1;
      return null;
    case 'yield':
    case 'segment':
      return { kind: 'yield' };
    case 'stop':
      return { kind: 'stopped', limit };
    case 'cancel':
      return { kind: 'cancelled' };
    default:
      return gate satisfies never;
  }
}

/** How long one effect may take: the step's own bound, the run's bound on steps, what is left of the run. */
export function timeoutOf(walk: Walk, step: Step): number {
  const own = 'timeoutMs' in step ? step.timeoutMs : undefined;
  const usual = step.type === 'shell' ? shellTimeoutMs : commandTimeoutMs;
  return Math.max(1, smallest(own ?? usual, walk.input.limits.stepTimeoutMs, remainingMs(walk)) ?? usual);
}
