/** The segment as an activity: one attempt at a time, and a run whose segment the store refuses ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, Context } from '@temporalio/activity';
import type { SegmentRequest, SegmentResult } from '../../interpreter/contract.ts';
import type { RunInput } from '../../interpreter/host.ts';
import { CommitRefused } from '../../prisma/store/contract/journal-conflict.ts';
import { type AttemptNow, attemptNow, LeftBehind } from '../../world/processes/overtaken.ts';
import { leftBehind } from '../steps/failures.ts';
import { runSegment, type SegmentParts } from './run-segment.ts';

/** Ends a run whose record the store refuses. */
export type EndRefused = (handle: string, error: unknown) => Promise<void>;

/** Whoever goes on with it comes at once. */
function attemptOf(scheduledAtMs: number): AttemptNow {
  try {
    return attemptNow(scheduledAtMs);
  } catch (error) {
    throw error instanceof LeftBehind ? leftBehind(error) : error;
  }
}

const LEAVES_WITHIN_MS = 10_000;

export function segmentActivity({
  recordRefused,
  ...parts
}: SegmentParts & { recordRefused?: EndRefused }): (
  input: RunInput,
  request: SegmentRequest,
) => Promise<SegmentResult> {
  /** The end of each that is under way here, by its run and key. */
  const underWay = new Map<string, Promise<unknown>>();
  return async (input, request) => {
    const key = `${input.handle} ${request.key}`;
    const { cancellationSignal: signal } = Context.current();
    const { attempt, currentAttemptScheduledTimestampMs } = activityInfo();
    const now = attemptOf(currentAttemptScheduledTimestampMs);
    // One that Temporal has given up, and asks for again, leaves what it has begun.
    const before = underWay.get(key);
    if (before !== undefined) await Promise.race([before, sleep(LEAVES_WITHIN_MS, undefined, { ref: false })]);
    const running = runSegment(parts, input, request, { attempt, now, signal });
    const ended = running.catch(() => undefined);
    underWay.set(key, ended);
    try {
      return await running;
    } catch (error) {
      if (error instanceof CommitRefused) await recordRefused?.(input.handle, error);
      throw error;
    } finally {
      if (underWay.get(key) === ended) underWay.delete(key);
    }
  };
}
