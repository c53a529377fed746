/** Processor time of replaying a history, the interpreter's against the hand-written workflow's. */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { viewerOf } from '../../runs/temporal-connection.ts';
import { payloadStorage } from '../../prisma/store/values/payload-driver.ts';
import { loadBundle } from '../../runs/bundle.ts';
import { shaped, SHAPES } from '../definitions.ts';
import { bounded, median, type Row } from '../report.ts';
import { packageRoot, type World } from '../world.ts';

/**
 * V8 goes on learning for some thousand steps. A worker that replays has as a rule lived for days, so what is
 * measured is code that is warm, on both sides.
 */
const warmUpSteps = 2000;

/** A worker takes the events during replay too, and drops those it has written. */
const sinks = { recorder: { append: { callDuringReplay: true, fn: () => undefined } } };

/** Milliseconds of this process for one replay of the history, after `warmUp` others. */
export async function replayCpuMs(
  options: ReplayWorkerOptions,
  history: History,
  workflowId: string,
  { warmUp, times }: { warmUp: number; times: number },
): Promise<number> {
  const histories = Array.from({ length: warmUp + times }, () => ({ workflowId, history }));
  let replayed = 0;
  let before = process.cpuUsage();
  let after = before;
  for await (const result of Worker.runReplayHistories(options, histories)) {
    if (result.error !== undefined) throw result.error;
    replayed += 1;
    if (replayed === warmUp) before = process.cpuUsage();
    after = process.cpuUsage();
  }
  return (after.user + after.system - before.user - before.system) / 1000 / times;
}

export async function replayOptions(
  world: World,
): Promise<{ sentinel: ReplayWorkerOptions; twin: ReplayWorkerOptions }> {
  const dataConverter = {
    externalStorage: payloadStorage(world.store),
    payloadCodecs: [viewerOf(world.client)],
  };
  return {
    sentinel: { workflowBundle: await loadBundle(packageRoot), dataConverter, sinks, replayName: 'sentinel' },
    twin: { workflowBundle: { codePath: world.twinBundle }, replayName: 'twin' },
  };
}

export async function replay(world: World, quick: boolean): Promise<Row[]> {
  const options = await replayOptions(world);
  const rows: Row[] = [];
  for (const count of quick ? [40] : [10, 40, 200]) {
    for (const shape of SHAPES) {
      const ours = await world.runSentinel(shaped(shape, count));
      const theirs = await world.runTwin(shape, [count]);
      const [ourHistory, theirHistory] = [await fetch(world, ours.workflowId), await fetch(world, theirs.workflowId)];
      const pairs: { ours: number; theirs: number }[] = [];
      for (let pair = 0; pair < 3; pair += 1) {
        const times = { warmUp: Math.ceil(warmUpSteps / count), times: Math.max(10, Math.ceil(800 / count)) };
        pairs.push({
          ours: await replayCpuMs(options.sentinel, ourHistory, ours.workflowId, times),
          theirs: await replayCpuMs(options.twin, theirHistory, theirs.workflowId, times),
        });
      }
      const value = median(pairs.map((pair) => pair.ours / pair.theirs));
      const note = `${median(pairs.map((pair) => pair.ours)).toFixed(2)} against ${median(pairs.map((pair) => pair.theirs)).toFixed(2)} ms a replay`;
      rows.push(bounded(`${shape} of ${count}: replay CPU`, { value, unit: 'x', atMost: 1.25, note }));
    }
  }
  return rows;
}

const fetch = (world: World, workflowId: string): Promise<History> =>
  world.client.workflow.getHandle(workflowId).fetchHistory();
