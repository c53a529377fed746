/**
 * `always`: steps that run once something has ended, however it ended.
 *
 * - No stop, cancellation or limit of the run interrupts them; a bound of their own does.
 * - The end they follow stands. Only after a good end does a failure of the clean-up count as the
 *   failure of what it belongs to; after any other it is a warning.
 */
import { cleanUpMs } from '../../language/limits.ts';
import { drive, wait, type Walking } from '../drive.ts';
import type { Strand } from '../host.ts';
import type { Flow } from '../effect.ts';
import { stepKey } from '../keys.ts';
import { record, type Walk } from '../walk-state.ts';
import type { CleanUpFrame } from '../position.ts';

export function beginCleanUp(walk: Walk, end: Flow): CleanUpFrame {
  return { end, block: { at: 0 }, until: walk.host.now() + cleanUpMs };
}

export function* walkCleanUp(
  walk: Walk,
  outside: Strand,
  at: { path: string; passes: readonly number[] },
  frame: CleanUpFrame,
  walkSteps: (strand: Strand) => Walking<Flow>,
): Walking<Flow> {
  const strand: Strand = {
    path: at.path,
    passes: [...at.passes],
    frame: { block: frame.block },
    own: outside.own,
    outer: outside.outer,
    cancelled: false,
    within: null,
    shield: { until: frame.until },
  };
  const leftMs = (): number => frame.until - walk.host.now();
  const flow = yield* wait(
    walk.host.bound(strand, leftMs, () => drive(walkSteps(strand), () => walk.host.suspended())),
  );
  if (flow.kind === 'yield' || flow.kind === 'segment' || flow.kind === 'done')
    return flow.kind === 'done' ? frame.end : flow;
  const key = stepKey(at.path, at.passes);
  const late = `${key}: the clean-up did not end within ${cleanUpMs / 1000} s and was cancelled; do less in it`;
  const failure = flow.kind === 'failed' ? flow.failure : { code: 'STEP_TIMEOUT', message: late, retryable: false };
  if (frame.end.kind === 'done') return { kind: 'failed', failure };
  record(walk, {
    type: 'warning',
    key,
    code: 'CLEAN_UP_FAILED',
    message: `${key}: the clean-up failed as well: ${failure.message}`,
  });
  return frame.end;
}
