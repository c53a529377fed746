/**
 * What becomes of a shell step that may have been done. It ends once, when that is decided: it is run again under
 * another key, it counts as done, the run goes on without knowing, or the step fails.
 */
import { SHELL_COMMAND } from '../language/catalogue.ts';
import type { ShellStep, Step } from '../language/model.ts';
import { labelOf } from './build-effect.ts';
import { resolveDoubt, triesMax, type Decider } from './doubt.ts';
import type { Walking } from './drive.ts';
import type { Ending, Flow, Place } from './effect.ts';
import { canAsk } from './escalation.ts';
import type { Strand } from './host.ts';
import type { BlockFrame, FailedFrame } from './position.ts';
import { finish } from './results.ts';
import { unknownValue } from './unknown-outcome.ts';
import { record, type Walk } from './walk-state.ts';

/** `again`: why it is run once more. */
export type SettledStep = Flow | { again: string };

export function* settleStep(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  frame: BlockFrame,
  doubt: NonNullable<FailedFrame['doubt']>,
): Walking<SettledStep> {
  if (step.type !== 'shell') throw new Error(`bug: "${place.key}" is no shell step, and its outcome is in doubt`);
  if (!(yield* canAsk(walk))) return { kind: 'yield' };
  const { type: _type, ...input } = doubt.action;
  const resolved = yield* resolveDoubt(walk, strand, {
    doubt,
    tries: (frame.repeats ?? 0) + 1,
    onUnknown: step.onUnknown ?? 'retry',
    place,
    label: labelOf(step),
    call: { name: SHELL_COMMAND, input },
  });
  const { failure } = doubt;
  // No `retry` of the step counts here.
  const end = (ended: ShellStep, ending: Ending, attemptsLeft = 0): Flow =>
    finish(walk, strand, ended, { ...place, attemptsLeft }, doubt.startedAt, ending, labelOf(step));
  const takeAsDone = (why: string): Flow => {
    const message = `${place.key}: its result is lost, and it counts as done: ${why}`;
    record(walk, { type: 'warning', key: place.key, code: failure.code, message });
    return end(step, { value: unknownValue(true) });
  };
  const unknown = { failure, gave: unknownValue(false) };
  if ('again' in resolved) {
    end({ ...step, retry: { attempts: triesMax, on: [failure.code] } }, { failure }, 1);
    return resolved;
  }
  if ('flow' in resolved) {
    if (resolved.flow.kind !== 'yield') end({ ...step, onError: 'fail' }, unknown);
    return resolved.flow;
  }
  if ('done' in resolved) return takeAsDone(resolved.done);
  if ('left' in resolved)
    return resolved.left === 'policy'
      ? end({ ...step, onError: 'skip' }, unknown)
      : takeAsDone(decidedBy(resolved.left));
  const flow = end(step, { ...unknown, ...resolved.ending });
  return flow.kind === 'failed' ? { kind: 'failed', failure: { ...flow.failure, asked: true } } : flow;
}

const decidedBy = ({ by, note }: Exclude<Decider, 'policy'>): string =>
  `${by} says so${note === null ? '' : `: ${note}`}`;

export function warnOfRepeat(walk: Walk, { key }: Place, step: Step, why: string): void {
  const message = `${key}: ${labelOf(step)} is run again, and may have been done before: ${why}`;
  record(walk, { type: 'warning', key, code: 'SHELL_REPEATED', message });
}
