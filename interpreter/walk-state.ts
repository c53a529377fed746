/**
 * What a walk carries with it, and the three ways it leaves a mark: an event, a variable, the end of
 * a step.
 */
import { isAbort, isPermanent, type FailureInfo } from '../language/failure.ts';
import type { Json } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import type { RunEvent, StepOutcome, StepUsage } from '../language/events/run-event.ts';
import { maskJson, masksOf, type Mask } from '../language/secrets.ts';
import type { Flow, Host, RunInput, Strand } from './host.ts';
import type { Position } from './position.ts';
import { isResultKey } from './kept-results.ts';
import { previewOf } from './preview.ts';
import { keepResult } from './results.ts';
import type { Anchor } from './edited-paths.ts';

/** What one walk works with. `position` is moved in place. */
export interface Walk {
  input: RunInput;
  position: Position;
  host: Host;
  /** The field that stands for a variable where it is used as text, by variable. */
  textFields: ReadonlyMap<string, string>;
  /** Segments in flight. */
  segments?: number;
  /** Of a segment: where its strand stands. */
  anchor?: Anchor;
}

/** Where a step stands: its path, the passes open around it, and the key made of both. */
export interface Place {
  path: string;
  passes: readonly number[];
  key: string;
  /** Attempts that may follow this one. */
  attemptsLeft?: number;
}

type Unstamped<Event> = Event extends RunEvent ? Omit<Event, 'seq' | 'at'> : never;

export function record(walk: Walk, event: Unstamped<RunEvent>): void {
  walk.position.seq += 1;
  walk.host.record({ seq: walk.position.seq, at: walk.host.now(), ...maskJson(event, masksFor(walk.input.env)) });
}

const masksByEnv = new WeakMap<object, Mask[]>();

/** What people read of a run shows no listed environment variable. */
function masksFor(env: RunInput['env']): readonly Mask[] {
  if (env === undefined) return [];
  const masks = masksByEnv.get(env) ?? masksOf(env);
  masksByEnv.set(env, masks);
  return masks;
}

/** Sets a variable of the strand, and notes it for the books of the pass. */
export function setVariable(walk: Walk, strand: Strand, name: string, value: Json): void {
  strand.own[name] = value;
  if (isResultKey(name)) return;
  if (strand.path === '' && !walk.position.tally.touched.includes(name)) walk.position.tally.touched.push(name);
}

/** `usage` only where the step cost something. */
export type Ending = ({ value: Json } | { failure: FailureInfo } | { cancelled: true }) & { usage?: StepUsage };

/** Closes a step: its event, its variable, and what its `onError` makes of a failure. */
export function finish(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  startedAt: number,
  ending: Ending,
  label: string,
): Flow {
  const finished = (outcome: StepOutcome, extra: { preview?: string; failure?: FailureInfo }): void =>
    record(walk, {
      type: 'step-finished',
      key: place.key,
      step: step.type,
      label,
      outcome,
      durationMs: walk.host.now() - startedAt,
      ...extra,
      ...(ending.usage === undefined ? {} : { usage: ending.usage }),
    });
  keepResult(walk, strand, step, place.path, ending, walk.host.now() - startedAt);
  if ('cancelled' in ending) {
    finished('cancelled', {});
    return { kind: 'cancelled' };
  }
  if ('value' in ending) {
    finished('ok', { preview: previewOf(ending.value) });
    if ('outputTo' in step && step.outputTo !== undefined) setVariable(walk, strand, step.outputTo, ending.value);
    return { kind: 'done' };
  }
  const again = (place.attemptsLeft ?? 0) > 0 && !isPermanent(ending.failure);
  const skips = !again && step.onError === 'skip' && !isAbort(ending.failure);
  finished(again ? 'retried' : skips ? 'skipped' : 'failed', { failure: ending.failure });
  return skips ? { kind: 'done' } : { kind: 'failed', failure: ending.failure };
}
