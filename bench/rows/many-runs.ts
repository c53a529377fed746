/** Five hundred runs started at once on one worker, ten quick steps each. */
import { quickSteps } from '../definitions.ts';
import { informed, percentile, type Row } from '../report.ts';
import { inParallel } from '../lanes.ts';
import type { World } from '../world.ts';

export async function manyRuns(world: World, quick: boolean): Promise<Row[]> {
  const count = quick ? 100 : 500;
  const definition = quickSteps('code-read', 10);
  const { times, wallMs } = await inParallel(count, count, () => world.runSentinel(definition));
  const name = `${count} runs of 10 quick steps at once`;
  const spread = `p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`;
  return [informed(name, `${((count * 1000) / wallMs).toFixed(1)} runs/s`, `all ${times.length} completed; ${spread}`)];
}
