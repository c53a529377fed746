/** Finds where lists of a run had ended, with what their failed items go on from. */
import type { RunEvent } from '../../language/events/run-event.ts';
import type { RunServices } from '../../runs/start-run.ts';
import { viewerOf } from '../../runs/temporal-connection.ts';
import { stepKey } from '../../interpreter/keys.ts';
import type { Line } from '../../workflows/history/lines-again.ts';
import type { Standing } from '../../workflows/history/retrace.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import type { ListsAgain } from './ended-lists.ts';
import { historyOf, type Part } from './histories.ts';
import type { ReplayParts } from './replay-history.ts';
import { retraceHistory } from './retrace-history.ts';

/** Null where none of the parts comes to the end of the step around them; `diverged` says what went wrong in one. */
export async function findListStanding(
  { store, client }: RunServices,
  bundle: ReplayParts['bundle'],
  history: readonly Part[],
  { handle, lists }: { handle: string; lists: ListsAgain },
  events: readonly RunEvent[],
): Promise<{ standing: Standing | null; diverged: Error | null }> {
  const lines = new Map<string, Line>();
  let diverged: Error | null = null;
  for (const { runId } of history.slice(firstPart(history, lists.at, events))) {
    const part = await historyOf(client, handle, runId);
    const found = await retraceHistory(
      { bundle, store, viewer: viewerOf(client) },
      { history: part, workflowId: workflowIdOf(handle) },
      { key: lists.at, seq: null, lists: { picks: lists.picks, lines: [...lines.values()] } },
    );
    if ('standing' in found) return { standing: found.standing, diverged };
    for (const line of found.lines) {
      const key = stepKey(line.path, line.passes);
      if (!lines.has(key)) lines.set(key, line);
    }
    diverged ??= found.missing;
  }
  return { standing: null, diverged };
}

/** The one before that in which the step began: the clock of a segment is another machine's. Without a beginning, the run began inside the step. */
function firstPart(history: readonly Part[], key: string, events: readonly RunEvent[]): number {
  const begun = events.find((event) => event.type === 'step-started' && event.key === key)?.at;
  if (begun === undefined) return 0;
  return Math.max(0, history.findLastIndex(({ startedAt }) => startedAt <= begun) - 1);
}
