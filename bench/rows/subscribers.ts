/**
 * Runs that all wait for one event: how long after its publication each goes on, with one worker
 * process and with four, and how large a part of the waking the busiest of the four does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { startRun } from '../../runs/start-run.ts';
import type { Definition } from '../../language/model.ts';
import { inParallel } from '../lanes.ts';
import { bounded, informed, percentile, type Row } from '../report.ts';
import type { WorkerHandle } from '../worker-handle.ts';
import type { World } from '../world.ts';

/** Also where less is measured: few are claimed by one worker at once, and there is nothing to share. */
const RUNS = 1_000;
const PROCESSES = 4;
const startedAtOnce = 32;
/** Of 1,000 runs. */
const withinMs = 600_000;

interface Woken {
  /** From the event's publication to the end of the run's wait. */
  times: number[];
  /** From the publication until all rows of the runs say so. */
  wallMs: number;
  startMs: number;
  /** By process. */
  counts: number[];
}

export async function subscribers(
  world: World,
  _quick: boolean,
  { runs: count = RUNS }: { runs?: number | undefined },
): Promise<Row[]> {
  const database = new Client({ connectionString: world.stage.databaseUrl });
  await database.connect();
  const workers: WorkerHandle[] = [world.workers.sentinel];
  try {
    const alone = await wakeAll(world, database, workers, count);
    while (workers.length < PROCESSES) workers.push(await world.fork('sentinel'));
    const together = await wakeAll(world, database, workers, count);
    const shares = together.counts.map((woken) => woken / count);
    const note = `shares ${shares.map((share) => `${(share * 100).toFixed(0)} %`).join(', ')}`;
    return [
      wakeRow(`${count} runs wait for one event, one process`, alone),
      wakeRow(`${count} runs wait for one event, ${PROCESSES} processes`, together),
      bounded(`largest share of one of ${PROCESSES} processes`, {
        value: Math.max(...shares),
        unit: 'of the runs',
        ...(count < RUNS ? {} : { atMost: 0.4 }),
        note,
      }),
    ];
  } finally {
    await Promise.all([database.end(), ...workers.slice(1).map((worker) => worker.end())]);
  }
}

function wakeRow(name: string, { times, wallMs, startMs }: Woken): Row {
  const spread = `p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`;
  const rate = `${((times.length * 1000) / wallMs).toFixed(0)} runs/s`;
  return informed(
    name,
    spread,
    `all ${times.length} ended ${(wallMs / 1000).toFixed(1)} s after it (${rate}); started in ${(startMs / 1000).toFixed(0)} s`,
  );
}

async function wakeAll(
  { store, client, catalogue, stage }: World,
  database: Client,
  workers: readonly WorkerHandle[],
  count: number,
): Promise<Woken> {
  const event = `bench:go:${workers.length}`;
  const definition: Definition = {
    name: 'bench-subscriber',
    loop: { type: 'once' },
    steps: [{ type: 'watch', event, timeoutMs: 3_600_000 }],
  };
  const numbered = async (text: string, values: readonly unknown[]): Promise<number> =>
    Number((await database.query<{ number: string }>(text, [...values])).rows[0]?.number);
  const prefix = `bench-subscriber-${workers.length}-`;
  let next = 0;
  const { wallMs: startMs } = await inParallel(count, startedAtOnce, async () => {
    next += 1;
    await startRun(
      { store, client, catalogue, taskQueue: 'sentinel' },
      { definition, inputs: {}, project: stage.project, persona: 'bench', handle: `${prefix}${next}` },
    );
  });
  const within = withinMs * Math.max(1, count / RUNS);
  await until(
    'they wait',
    within,
    async () =>
      (await numbered('select count(*) as number from event_subscriptions where glob = $1', [event])) === count,
  );
  const before = await countsOf(workers);
  const publishedAt = Date.now();
  await store.signals.publishAll([{ handle: '@bench', key: event, name: event, data: null }]);
  await until(
    'they have ended',
    within,
    async () =>
      (await numbered('select count(*) as number from runs where starts_with(handle, $1) and finished_at is not null', [
        prefix,
      ])) === count,
  );
  const wallMs = Date.now() - publishedAt;
  const { rows } = await database.query<{ at: string }>(
    `select event->>'at' as at from run_events where starts_with(handle, $1) and type = 'step-finished'`,
    [prefix],
  );
  const after = await countsOf(workers);
  return {
    times: rows.map(({ at }) => Number(at) - publishedAt),
    wallMs,
    startMs,
    counts: after.map((woken, index) => woken - (before[index] ?? 0)),
  };
}

function countsOf(workers: readonly WorkerHandle[]): Promise<number[]> {
  return Promise.all(workers.map(async (worker) => (await worker.usage()).woken));
}

async function until(what: string, within: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + within;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`the benchmark waited in vain until ${what}`);
    await sleep(50);
  }
}
