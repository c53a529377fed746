/**
 * SIGKILL of the Temporal server, SIGKILL of Postgres, and a database that stays away: runs wait and
 * go on, with the result of an undisturbed run. The services are this file's own.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { counted, create, shell } from './definitions.ts';
import { Harness, steady, until } from './harness.ts';
import { startServices, type Services } from './services.ts';
import { shapeOf } from './trace-shape.ts';

/** The slow script takes the database away for longer. */
const awayMs = Number(process.env['SENTINEL_TEST_AWAY_MS'] ?? 20_000);

const passes = 10;
const definition = counted('through-outages', passes, [
  create('kept', { pass: '$iteration' }, 'row'),
  { type: 'condition', check: '$iteration % 2 === 0', then: [{ type: 'emit', event: 'even', data: '$iteration' }], else: [create('odd', { pass: '$iteration' })] },
  shell('echo $iteration >> effects; sleep 0.4; echo $iteration', { outputTo: 'said' }),
  {
    type: 'parallel',
    branches: [[shell('echo left', { outputTo: 'left' })], [create('right', { pass: '$iteration' }), { type: 'command', command: 'data/read', params: { collection: 'right' }, outputTo: 'right' }]],
  },
]);

let services: Services;
let harness: Harness;
let expected: { outputs: unknown; shape: string[] };

beforeAll(async () => {
  services = await startServices();
  harness = await Harness.open(services);
  await harness.startWorker();
  const { result, events } = await harness.run(definition);
  expected = { outputs: steady(result.outputs), shape: shapeOf(events) };
});
afterAll(async () => {
  await harness.close();
  await services.stop();
});

const effects = (): number => {
  const path = join(harness.project, 'effects');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0;
};

async function disturb(take: () => Promise<void>): Promise<void> {
  const rowsBefore = await harness.rows('kept');
  const effectsBefore = effects();
  const handle = await harness.start(definition);
  await until(() => effects() >= effectsBefore + 3);
  await take();
  const result = await harness.result(handle);
  expect(steady(result.outputs)).toEqual(expected.outputs);
  expect(result).toMatchObject({ outcome: 'completed', iterations: passes });
  expect(shapeOf(await harness.events(handle))).toEqual(expected.shape);
  const rows = (await harness.rows('kept')).slice(rowsBefore.length).map((row) => row['pass']);
  expect(rows).toEqual(Array.from({ length: passes }, (_, i) => i + 1));
  expect(effects() - effectsBefore).toBeGreaterThanOrEqual(passes);
  expect(await harness.store.runs.find(handle)).toMatchObject({ status: 'completed', outcome: 'completed', iterations: passes });
}

test('the Temporal server is killed and started again', () =>
  disturb(async () => {
    await services.temporal.kill();
    await sleep(1000);
    await services.temporal.start();
  }));

test('Postgres is killed and started again', () =>
  disturb(async () => {
    await services.postgres.kill();
    await services.postgres.start();
  }));

test(`the database is away for ${awayMs / 1000} s`, { timeout: 240_000 + awayMs }, () =>
  disturb(async () => {
    await services.postgres.kill();
    await sleep(awayMs);
    await services.postgres.start();
  }));
