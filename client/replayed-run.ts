/** A run, or a history in a file, walked again with the code that the workers of this version run. */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { RunEvent } from '../language/events/run-event.ts';
import { ownBundle } from '../runs/bundle.ts';
import { viewerOf } from '../runs/temporal-connection.ts';
import { readConfig } from '../services/config/config.ts';
import { keysIfThere } from '../services/seal/open-keys.ts';
import { PayloadSeal } from '../services/seal/payload-seal.ts';
import { handleOf, workflowIdOf } from '../workflows/messages/messages.ts';
import type { OpenClient } from './open-client.ts';
import { historyOf, partsOf } from './history/histories.ts';
import { replayRun, type ReplayReport } from './history/replay-run.ts';

export type ReplayedRun = ReplayReport & { handle: string };

export async function replayStored(client: OpenClient, handle: string): Promise<ReplayedRun> {
  await client.find(handle);
  const { store, client: temporal } = await client.parts();
  const histories = async function* (): AsyncGenerator<History> {
    for (const { runId } of await partsOf(temporal, handle)) yield await historyOf(temporal, handle, runId);
  };
  const stored = async (): Promise<{ events: RunEvent[]; hasEnded: boolean }> => {
    const { finishedAt } = await client.find(handle);
    return { events: await client.events(handle), hasEnded: finishedAt !== null };
  };
  const parts = { bundle: await ownBundle(), store, viewer: viewerOf(temporal) };
  return { handle, ...(await replayRun(parts, workflowIdOf(handle), histories(), stored)) };
}

/** Large values of a run are in the store. A history without large values needs no store, and one that is not sealed no key. */
export async function replayFile(client: OpenClient, history: History): Promise<ReplayedRun> {
  const workflowId =
    history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? workflowIdOf('replayed');
  const store = await client.storeIfUp();
  const keys = await keysIfThere(readConfig(), store);
  const viewer = keys === null ? null : PayloadSeal.viewer(keys);
  const report = await replayRun({ bundle: await ownBundle(), store, viewer }, workflowId, [history], null);
  return { handle: handleOf(workflowId), ...report };
}
