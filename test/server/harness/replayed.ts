/**
 * The history of every run, walked again from its start: live code that took another way than a replay
 * would shows here, whether or not a worker had to take over at that place.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type ReplayHistoriesIterable } from '@temporalio/worker';
import { historyOf, partsOf } from '../../../client/history/histories.ts';
import { replayOptions } from '../../../client/history/replay-history.ts';
import { viewerOf } from '../../../runs/temporal-connection.ts';
import { loadBundle } from '../../../runs/bundle.ts';
import { handleOf, workflowIdOf } from '../../../workflows/messages/messages.ts';
import type { Harness } from './harness.ts';

const kept = join(tmpdir(), 'sentinel-chaos');
const packageRoot = join(import.meta.dirname, '..', '..', '..');

async function* histories(harness: Harness, handles: readonly string[]): ReplayHistoriesIterable {
  for (const handle of handles) {
    for (const { runId } of await partsOf(harness.client, handle)) {
      yield { workflowId: workflowIdOf(handle), history: await historyOf(harness.client, handle, runId) };
    }
  }
}

/** What the SDK says of each history that does not replay, with the file where it is kept. */
export async function notReplayed(harness: Harness, handles: readonly string[], seed: number): Promise<string[]> {
  const sinks = {
    recorder: { append: { callDuringReplay: true, fn: () => undefined }, settle: { fn: () => undefined } },
  };
  const options = replayOptions(
    { bundle: await loadBundle(packageRoot), store: harness.store, viewer: viewerOf(harness.client) },
    sinks,
  );
  const said: string[] = [];
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, histories(harness, handles))) {
    if (error === undefined) continue;
    const files = await keepHistories(harness, handleOf(workflowId), seed);
    said.push(`${workflowId} ${runId}: ${error.message} (kept in ${files.join(', ')})`);
  }
  return said;
}

/** For whoever looks into what went wrong: what history has of the run, and the store. */
export async function keepHistories(harness: Harness, handle: string, seed: number): Promise<string[]> {
  mkdirSync(kept, { recursive: true });
  const named = (rest: string): string => join(kept, `${seed}-${handle.replaceAll('/', '_')}-${rest}.json`);
  const files = [named('events')];
  writeFileSync(named('events'), JSON.stringify(await harness.events(handle), null, 1));
  for (const [part, { runId }] of (await partsOf(harness.client, handle)).entries()) {
    const file = named(`${part}.history`);
    writeFileSync(file, historyToJSON(await historyOf(harness.client, handle, runId)));
    files.push(file);
  }
  return files;
}
