/**
 * A run's histories walked again with today's workflow code: would a worker of this version go on
 * with the run, and does it record what the run recorded?
 */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { InjectedSinks } from '@temporalio/worker';
import type { RunEvent } from '../../language/events/run-event.ts';
import { compareEvents, type EventDifference } from '../../workflows/history/compare-events.ts';
import { replayHistory, type ReplayParts } from './replay-history.ts';

type RecorderSinks = { recorder: { append(handle: string, events: RunEvent[]): void; settle(handle: string): void } };

export interface Divergence {
  message: string;
  /** The event of the history that the code did not lead to, where the finding names one. */
  eventId: number | null;
}

export interface ReplayedPart {
  runId: string | null;
  events: number;
  ok: boolean;
  divergence: Divergence | null;
}

export interface ReplayReport {
  ok: boolean;
  parts: ReplayedPart[];
  /** Events that the store has otherwise. */
  differences: EventDifference[];
}

/** `readStored`: what the store has of the run, read once the histories are; null where that is not asked. */
export async function replayRun(
  parts: ReplayParts,
  workflowId: string,
  histories: AsyncIterable<History> | Iterable<History>,
  readStored: (() => Promise<{ events: readonly RunEvent[]; hasEnded: boolean }>) | null,
): Promise<ReplayReport> {
  const recorded: RunEvent[] = [];
  const replayed: ReplayedPart[] = [];
  const sinks: InjectedSinks<RecorderSinks> = {
    recorder: {
      append: { callDuringReplay: true, fn: (_info, _handle, events) => void recorded.push(...events) },
      settle: { fn: () => undefined },
    },
  };
  for await (const history of histories) {
    const error = await replayHistory(parts, { history, workflowId }, sinks);
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    const runId = started?.originalExecutionRunId ?? null;
    replayed.push({
      runId,
      events: history.events?.length ?? 0,
      ok: error === null,
      divergence: error === null ? null : divergenceOf(error, history),
    });
  }
  const isSame = replayed.every(({ ok }) => ok);
  const stored = readStored === null ? null : await readStored();
  const differences = stored === null ? [] : compareEvents(recorded, stored.events, isSame && stored.hasEnded);
  return { ok: isSame && differences.length === 0, parts: replayed, differences };
}

/** The finding itself, out of the SDK's account of how it came to it. */
function divergenceOf(error: Error, { events }: History): Divergence {
  const message = /\[TMPRL\d+\][^"]*/.exec(error.message)?.[0] ?? error.message.split('\n')[0] ?? '';
  const id = /HistoryEvent\(id: (\d+)/.exec(message)?.[1];
  if (id !== undefined) return { message, eventId: Number(id) };
  const named = / event '([^']+)'/.exec(message)?.[1];
  const found = events?.find((event) => named !== undefined && nameOf(event) === named)?.eventId ?? null;
  return { message, eventId: found === null ? null : Number(found) };
}

/** What an event of the history asks for goes by. */
function nameOf(event: NonNullable<History['events']>[number]): string | null | undefined {
  const activity = event.activityTaskScheduledEventAttributes;
  return (
    activity?.activityId ??
    event.timerStartedEventAttributes?.timerId ??
    event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId
  );
}
