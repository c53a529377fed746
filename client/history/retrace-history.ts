/**
 * Finds where a run stood at a step: its history is walked again with what is looked for as one more
 * input, and the walk tells when it is there (workflows/history/retrace-host.ts).
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { InjectedSinks } from '@temporalio/worker';
import { settlePosition } from '../../workflows/history/kept-host.ts';
import type { Line } from '../../workflows/history/lines-again.ts';
import type { RetraceTarget, Settlement, Standing } from '../../workflows/history/retrace.ts';
import { replayHistory, type ReplayParts } from './replay-history.ts';

type RetraceSinks = {
  recorder: { append(): void; settle(): void };
  retrace: { stands(standing: Standing): void; settled(settlement: Settlement): void; line(line: Line): void };
};

/** `lines`: those that go on again from a place in this part, where the end of the step around them is in a later one. */
export type Retraced = { standing: Standing } | { missing: Error | null; lines: Line[] };

/** The position holds what was in flight and ended well; `missing` says what went wrong, if anything did. */
export async function retraceHistory(
  parts: ReplayParts,
  { history, workflowId }: { history: History; workflowId: string },
  target: RetraceTarget,
): Promise<Retraced> {
  const told = { standing: null as Standing | null, settlements: [] as Settlement[], lines: [] as Line[] };
  const sinks: InjectedSinks<RetraceSinks> = {
    recorder: { append: { fn: () => undefined }, settle: { fn: () => undefined } },
    retrace: {
      stands: { callDuringReplay: true, fn: (_info, standing) => void (told.standing = standing) },
      settled: { callDuringReplay: true, fn: (_info, settlement) => void told.settlements.push(settlement) },
      line: { callDuringReplay: true, fn: (_info, line) => void told.lines.push(line) },
    },
  };
  const error = await replayHistory(parts, { history: withTarget(history, target), workflowId }, sinks);
  if (told.standing === null) return { missing: error, lines: told.lines };
  return { standing: { ...told.standing, position: await settlePosition(told.standing, told.settlements) } };
}

const toPayload = (value: unknown): ReturnType<typeof defaultPayloadConverter.toPayload> =>
  defaultPayloadConverter.toPayload(value);

/** The first event with one more input; a run that did not continue another has one input, and so nothing in between. */
function withTarget(history: History, target: RetraceTarget): History {
  const [first, ...rest] = history.events ?? [];
  const started = first?.workflowExecutionStartedEventAttributes;
  if (!first || !started) throw new Error('bug: a history without its first event');
  const [start, carried = toPayload(undefined)] = started.input?.payloads ?? [];
  if (start === undefined) throw new Error('bug: a run that was started with nothing');
  const input = { payloads: [start, carried, toPayload(target)] };
  return {
    ...history,
    events: [{ ...first, workflowExecutionStartedEventAttributes: { ...started, input } }, ...rest],
  };
}
