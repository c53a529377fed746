/** Background work of a system: by one worker at a time, once each time, whatever becomes of workers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';
import { LAB } from '../systems/lab-project.ts';

const openHarness = useHarnesses();
let harness: Harness;
let sql: Client;
beforeAll(async () => {
  harness = await openHarness();
  writeFileSync(join(harness.project, 'sentinel.config.ts'), LAB);
  sql = new Client({ connectionString: harness.databaseUrl });
  await sql.connect();
});
afterAll(() => sql.end());

const worker = () => harness.startWorker({ SENTINEL_PROJECT: harness.project });

interface Row {
  key: string;
  caller: unknown;
  at: Date;
}

const rows = async (table: string): Promise<Row[]> => {
  const { rows: made } = await sql.query<{ made: string | null }>(`select to_regclass('${table}') as made`);
  const isMade = typeof made[0]?.made === 'string';
  return isMade ? (await sql.query<Row>(`select * from ${table} order by id`)).rows : [];
};

test('quick and long: each time once, in order, while workers are killed; and what was missed is not made up', async () => {
  let workers: WorkerProcess[] = await Promise.all([worker(), worker()]);
  for (const enough of [3, 6, 9]) {
    await until(async () => (await rows('lab_tick')).length >= enough);
    await workers[0]?.kill9();
    workers = [...workers.slice(1), await worker()];
  }
  await until(async () => (await rows('lab_sweep')).length >= 3);
  await Promise.all(workers.map((one) => one.kill9()));
  const ticks = await rows('lab_tick');
  expect(ticks.map(({ key }) => key)).toEqual(ticks.map((_, index) => `@background/lab/ticking/${index}`));
  expect(ticks[0]?.caller).toEqual({ kind: 'background', name: 'lab/ticking' });
  const gaps = ticks.slice(1).map(({ at }, index) => at.getTime() - (ticks[index]?.at.getTime() ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(990);
  const sweeps = await rows('lab_sweep');
  expect(sweeps[0]?.caller).toEqual({ kind: 'background', name: 'lab/sweeping' });
  expect(new Set(sweeps.map(({ key }) => key)).size).toBe(sweeps.length);
  const runs = (await harness.store.runs.list({ startedBy: 'background' })).toReversed();
  expect(runs.map(({ handle }) => handle)).toEqual(runs.map((_, index) => `background:lab:sweeping:${index}`));
  expect(runs.filter(({ status }) => status !== 'completed').length).toBeLessThanOrEqual(1);

  await sql.query("update system_background set next_at = now() - interval '1 day' where task = 'ticking'");
  await worker();
  await until(async () => (await rows('lab_tick')).length >= ticks.length + 2);
  const [first, second] = (await rows('lab_tick')).slice(ticks.length);
  expect((second?.at.getTime() ?? 0) - (first?.at.getTime() ?? 0)).toBeGreaterThanOrEqual(990);
});

async function failingEntry(): Promise<{ found: string; ok: boolean } | undefined> {
  const { out } = await harness.command('doctor', '--json');
  const { entries } = JSON.parse(out) as { entries: { name: string; ok: boolean; found: string }[] };
  return entries.find(({ name }) => name === 'background lab/failing');
}

test('what fails rests ever longer, and doctor says so', async () => {
  await expect.poll(failingEntry, { timeout: 30_000 }).toMatchObject({
    ok: false,
    found: expect.stringMatching(/^failed \d+ times, and is tried again at .*: lab\/fail: not today$/) as string,
  });
});

test('nobody gives a run the handle of background work', async () => {
  writeFileSync(
    join(harness.project, 'one.json'),
    JSON.stringify({ name: 'one', steps: [{ type: 'set', values: { a: 1 } }] }),
  );
  const { code, err } = await harness.command('run', 'one.json', '--id', 'background:lab:sweeping:99');
  expect(code).toBe(2);
  expect(err).toContain('is a handle as the engine gives one');
});
