/** Long loops: bounded history, constant memory, linear time; and continue-as-new without segments. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { quickLoop } from '../definitions.ts';
import { handleOf } from '../../workflows/messages/messages.ts';
import { bounded, informed, type Row } from '../report.ts';
import type { Timed, World } from '../world.ts';

interface Chain {
  runs: number;
  longestHistory: number;
}

/** Every execution that one run continued through. */
export async function chainOf(world: World, workflowId: string, atLeast: number): Promise<Chain> {
  for (;;) {
    const lengths: number[] = [];
    for await (const execution of world.client.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
      lengths.push(execution.historyLength);
    // Listing lags behind: the last execution is listed as closed a moment after its result.
    if (lengths.length >= atLeast && lengths.every((length) => length > 0))
      return { runs: lengths.length, longestHistory: Math.max(...lengths) };
    await sleep(100);
  }
}

/** When each of the given passes ended, by the run's own clock. */
async function passEnds(world: World, workflowId: string, passes: readonly number[]): Promise<number[]> {
  const pool = new Pool({ connectionString: world.stage.databaseUrl, max: 1 });
  const text = `select (event->>'at')::float8 as at from run_events
    where handle = $1 and type = 'pass-finished' and (event->>'pass')::int = any($2) order by (event->>'pass')::int`;
  const { rows } = await pool.query<{ at: number }>(text, [handleOf(workflowId), passes]);
  await pool.end();
  return rows.map((row) => row.at);
}

interface MemoryMark {
  at: number;
  rssBytes: number;
}

async function watched(world: World, run: () => Promise<Timed>): Promise<{ timed: Timed; memory: MemoryMark[] }> {
  const memory: MemoryMark[] = [];
  const pending = run();
  for (;;) {
    const { rssBytes } = await world.workers.sentinel.usage();
    memory.push({ at: Date.now(), rssBytes });
    const timed = await Promise.race([sleep(200, null), pending]);
    if (timed !== null) return { timed, memory };
  }
}

const mebibytes = (bytes: number): number => bytes / 1024 / 1024;

export async function longLoop(world: World, quick: boolean): Promise<Row[]> {
  const tenth = quick ? 1000 : 10_000;
  const passes = tenth * 10;
  const { timed, memory } = await watched(world, () => world.runSentinel(quickLoop(passes, 1, 0)));
  const [first = 0, second = 0, ninth = 0, last = 0] = await passEnds(world, timed.workflowId, [
    tenth,
    tenth * 2,
    tenth * 9,
    passes,
  ]);
  const after = memory.filter((mark) => mark.at >= first).map((mark) => mark.rssBytes);
  const { runs, longestHistory } = await chainOf(world, timed.workflowId, 1);
  const name = `loop of ${passes} quick passes`;
  const grown = mebibytes(Math.max(...after) - (after[0] ?? Number.NaN));
  return [
    informed(
      name,
      `${(timed.ms / 1000).toFixed(1)} s`,
      `${((passes * 1000) / timed.ms).toFixed(0)} passes/s, ${runs} executions`,
    ),
    bounded(`${name}: longest history`, { value: longestHistory, unit: 'events', atMost: 10_000 }),
    bounded(`${name}: memory after the first tenth`, {
      value: grown,
      unit: 'MB more',
      atMost: 50,
      note: `${mebibytes(after[0] ?? 0).toFixed(0)} MB then`,
    }),
    bounded(`${name}: last tenth against the second`, {
      value: (last - ninth) / (second - first),
      unit: 'x',
      atMost: 1.3,
    }),
  ];
}

export async function stepLoop(world: World, quick: boolean): Promise<Row[]> {
  const passes = quick ? 1000 : 10_000;
  const timed = await world.runSentinel(quickLoop(passes, 1, 0, 'step'));
  const { runs, longestHistory } = await chainOf(world, timed.workflowId, 2);
  return [
    bounded(`loop of ${passes} passes, each an activity: executions`, {
      value: runs,
      unit: 'in the chain',
      atLeast: 2,
      note: `${(timed.ms / passes).toFixed(1)} ms a pass, longest history ${longestHistory} events`,
    }),
  ];
}
