/**
 * SIGKILL of the Temporal server, SIGKILL of Postgres, and a database that stays away: runs wait and
 * go on, with the result of an undisturbed run. The services are this file's own.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { Harness, steady, until } from '../harness/harness.ts';
import { notReplayed } from '../harness/replayed.ts';
import { startServices, type Services } from '../harness/services.ts';
import { shapeOf } from '../harness/trace-shape.ts';

/** The slow script takes the database away for longer. */
const awayMs = Number(process.env['SENTINEL_TEST_AWAY_MS'] ?? 20_000);

const passes = 10;
const definition = counted('through-outages', passes, [
  create('kept', { pass: '$iteration' }, 'row'),
  {
    type: 'condition',
    check: '$iteration % 2 === 0',
    then: [{ type: 'emit', event: 'even', data: '$iteration' }],
    else: [create('odd', { pass: '$iteration' })],
  },
  shell('echo $iteration >> effects; sleep 0.4; echo $iteration', { outputTo: 'said' }),
  {
    type: 'parallel',
    branches: [
      [shell('echo left', { outputTo: 'left' })],
      [
        create('right', { pass: '$iteration' }),
        { type: 'command', command: 'data/read', params: { collection: 'right' }, outputTo: 'right' },
      ],
    ],
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
  expect(await harness.store.runs.find(handle)).toMatchObject({
    status: 'completed',
    outcome: 'completed',
    iterations: passes,
  });
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
  }),
);

test('branches that wait for the database side by side lead on as a replay does', { timeout: 240_000 }, async () => {
  const row = create('waited', { n: 1 });
  const branches = (n: number): Step[][] => [
    [shell(`sleep 0.${n}`), row, shell('true'), row],
    [
      shell(`sleep 0.${(n * 3) % 10}`),
      { type: 'approval', message: 'Go on?', timeoutMs: 20_000, onTimeout: 'approve' },
      row,
    ],
    [shell(`sleep 1.${n}`), { type: 'loop', loop: { type: 'count', max: 30 }, steps: [row] }, shell('true')],
    [row, { type: 'watch', event: 'waited:never', timeoutMs: 15_000, onError: 'skip' }],
  ];
  const handles = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      harness.start(once('waited', [{ type: 'parallel', branches: branches(n) }, row])),
    ),
  );
  await services.postgres.kill();
  await sleep(9000);
  await services.postgres.start();
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await harness.rows('waited')).toHaveLength(10 * (2 + 1 + 30 + 1 + 1));
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});
