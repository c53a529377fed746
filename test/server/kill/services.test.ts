/**
 * SIGKILL of the Temporal server, SIGKILL of Postgres, and a database that stays away: runs wait and
 * go on, with the result of an undisturbed run. The services are this file's own; the two tests that mostly
 * wait do so side by side, each with its own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { useOutages, type Outages, type Outcome } from '../harness/outages.ts';
import { notReplayed } from '../harness/replayed.ts';

const openOutages = useOutages();
let outages: Outages;
let expected: Outcome;

beforeAll(async () => {
  outages = await openOutages();
  expected = await outages.undisturbed();
});

test('the Temporal server is killed and started again', () =>
  outages.disturb(expected, async () => {
    await outages.services.temporal.kill();
    await sleep(1000);
    await outages.services.temporal.start();
  }));

test('Postgres is killed and started again', () =>
  outages.disturb(expected, async () => {
    await outages.services.postgres.kill();
    await outages.services.postgres.start();
  }));

test.concurrent('the database is away for 20 s', async () => {
  const own = await openOutages();
  await own.disturb(expected, async () => {
    await own.services.postgres.kill();
    await sleep(20_000);
    await own.services.postgres.start();
  });
});

test.concurrent('branches that wait for the database side by side lead on as a replay does', async () => {
  const { harness, services } = await openOutages();
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
