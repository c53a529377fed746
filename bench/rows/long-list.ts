/** A parallel step over a long list of quick items, eight at once: its time, and what it leaves in Temporal's history. */
import { quickList } from '../definitions.ts';
import { bounded, informed, type Row } from '../report.ts';
import type { World } from '../world.ts';
import { chainOf } from './long-loop.ts';

export async function longList(world: World, quick: boolean): Promise<Row[]> {
  const items = quick ? 1000 : 10_000;
  const { ms, workflowId } = await world.runSentinel(quickList(items));
  const { runs, longestHistory } = await chainOf(world, workflowId, 1);
  const { historySize = 0 } = await world.client.workflow.getHandle(workflowId).describe();
  const name = `list of ${items} quick items, 8 at once`;
  return [
    informed(name, `${(ms / 1000).toFixed(1)} s`, `${((items * 1000) / ms).toFixed(0)} items/s, ${runs} executions`),
    bounded(`${name}: longest history`, {
      value: longestHistory,
      unit: 'events',
      atMost: 10_000,
      note: `the last one ${(historySize / 1024).toFixed(0)} KB`,
    }),
  ];
}
