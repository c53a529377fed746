/**
 * A part of a strand within a time, as Temporal's scopes: when the time is up, what runs in it is
 * cancelled. A shielded part stands outside every other cancellation.
 */
import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import type { Strand } from '../../interpreter/host.ts';
import type { Flow } from '../../interpreter/effect.ts';

export function boundScope(
  strand: Strand,
  leftMs: () => number,
  isRunning: () => boolean,
  walk: () => Promise<Flow>,
): Promise<Flow> {
  const within = async (): Promise<Flow> => {
    const scope = new CancellationScope();
    const timer = new CancellationScope();
    void timer
      .run(() => untilLate(leftMs, isRunning))
      .then(
        () => {
          strand.cancelled = true;
          scope.cancel();
        },
        (error: unknown) => {
          if (!isCancellation(error)) throw error;
        },
      );
    try {
      return await scope.run(walk);
    } finally {
      timer.cancel();
    }
  };
  return strand.shield === undefined ? within() : CancellationScope.nonCancellable(within);
}

/** Whether the time is up before something has ended, or is cancelled. */
export async function endsLate(
  leftMs: () => number,
  isRunning: () => boolean,
  ended: Promise<unknown>,
): Promise<boolean> {
  const timer = new CancellationScope();
  const cancel = (): void => timer.cancel();
  ended.then(cancel, cancel);
  try {
    await timer.run(() => untilLate(leftMs, isRunning));
    return true;
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return false;
  }
}

/** Time that the run is held does not pass: what is left is read again when it would be up. */
async function untilLate(leftMs: () => number, isRunning: () => boolean): Promise<void> {
  for (let left = leftMs(); left > 0; left = leftMs()) {
    await sleep(left, { summary: 'time of a step' });
    await condition(isRunning);
  }
}
