/** Leases that the commands of a project ask for: who has a place, who waits, and what becomes of both. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { letGo, mostAtOnce, spansOf, use, using, writeLeasing } from '../harness/leasing-project.ts';
import { SentinelClient } from '../../../client/client.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  client = new SentinelClient({ env: harness.env, startsServices: false });
  writeLeasing(harness.project);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const start = async (definition: Parameters<SentinelClient['start']>[0]): Promise<string> =>
  (await client.start(definition, { project: harness.project })).handle;

const has = (lease: string, count = 1): Promise<void> => until(() => spansOf(harness, lease).length >= count);

const standing = async (lease: string): Promise<string[]> =>
  (await harness.store.leases.places(1_000))
    .filter(({ name }) => name === lease)
    .map(({ handle, isTaken }) => `${handle} ${isTaken ? 'has' : 'waits'}`);

const places = (lease: string, count: number): Promise<void> =>
  until(async () => (await standing(lease)).length === count);

test('of five branches two have a place at a time', async () => {
  const handle = await start(
    once('five', [
      {
        type: 'parallel',
        branches: Array.from({ length: 5 }, (): Step[] => [use('five', { capacity: 2, forMs: 500 })]),
      },
    ]),
  );
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const spans = spansOf(harness, 'five');
  expect(spans).toHaveLength(5);
  expect(mostAtOnce(spans)).toBe(2);
  expect(await standing('five')).toEqual([]);
});

test('runs of one project wait for one another, and say so', async () => {
  const first = await start(using('told', { how: 'waits' }));
  await has('told');
  const second = await start(using('told', { how: 'waits' }));
  await places('told', 2);
  const third = await start(using('told', { how: 'waits' }));
  await places('told', 3);
  expect(await standing('told')).toEqual([`${first} has`, `${second} waits`, `${third} waits`]);
  expect((await harness.command('status', first)).out).toContain('has the lease "told" (steps.0@1)');
  expect((await harness.command('status', third)).out).toContain(
    `waits for the lease "told" behind ${first}, with 1 more before this step (steps.0@1)`,
  );
  const report = JSON.parse((await harness.command('status', second, '--json')).out) as { leases: unknown };
  expect(report.leases).toEqual([
    {
      step: 'steps.0@1',
      name: 'told',
      scope: 'project',
      capacity: 1,
      state: 'waiting',
      behind: [first],
      ahead: 0,
    },
  ]);
  const { out } = await harness.command('leases');
  expect(out).toMatch(new RegExp(`told +1 +\\S+ +${first} +steps\\.0@1 +has it`));
  expect(out.indexOf(second)).toBeLessThan(out.indexOf(third));
  const listed = JSON.parse((await harness.command('leases', '--json')).out) as object[];
  const since = expect.any(Number) as number;
  expect(listed).toContainEqual({
    kind: 'command',
    name: 'told',
    project: harness.project,
    capacity: 1,
    holders: [{ handle: first, step: 'steps.0@1', since }],
    waiting: [second, third].map((handle) => ({ handle, step: 'steps.0@1', since })),
  });
  letGo(harness, 'told');
  for (const handle of [first, second, third])
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(mostAtOnce(spansOf(harness, 'told'))).toBe(1);
});

test('one that waits is cancelled, and those behind it move up', async () => {
  const first = await start(using('cancelled', { how: 'waits' }));
  await has('cancelled');
  const second = await start(using('cancelled', { how: 'waits' }));
  await places('cancelled', 2);
  const third = await start(using('cancelled', { how: 'waits' }));
  await places('cancelled', 3);
  await client.cancel(second);
  expect(await harness.result(second)).toMatchObject({ outcome: 'cancelled' });
  await until(async () => (await standing('cancelled')).join() === [`${first} has`, `${third} waits`].join());
  // One that has it is cancelled, too.
  await client.cancel(first);
  expect(await harness.result(first)).toMatchObject({ outcome: 'cancelled' });
  letGo(harness, 'cancelled');
  expect(await harness.result(third)).toMatchObject({ outcome: 'completed' });
  const spans = spansOf(harness, 'cancelled');
  expect(spans.map(({ who }) => who.split('/')[0])).not.toContain(second);
  expect(mostAtOnce(spans)).toBe(1);
});

test('a command that fails, and one that leaves its place and goes on, let the next one go on', async () => {
  const failing = await start(using('left', { how: 'fails', forMs: 100 }));
  expect(await harness.result(failing)).toMatchObject({ outcome: 'failed', failure: { code: 'ACTIVITY_FAILED' } });
  const leaving = await start(using('left', { how: 'leaves', forMs: 100 }));
  await has('left', 1);
  const next = await start(using('left', { forMs: 100 }));
  expect(await harness.result(next)).toMatchObject({ outcome: 'completed' });
  expect(await harness.store.runs.find(leaving)).toMatchObject({ status: 'running' });
  await client.cancel(leaving);
  await harness.result(leaving);
});

test('one whose time is over says for whom it waited, and a retry of the step has its place later', async () => {
  const first = await start(using('late', { how: 'waits' }));
  await has('late');
  const late = await start(once('leasing', [use('late', {}, { timeoutMs: 1_000 })]));
  expect(await harness.result(late)).toMatchObject({
    outcome: 'failed',
    failure: {
      code: 'STEP_TIMEOUT',
      message: expect.stringContaining(
        `waited for the lease "late" until its 1000 ms were over, behind ${first}`,
      ) as string,
    },
  });
  const retried = await start(
    once('leasing', [use('late', {}, { timeoutMs: 1_000, retry: { attempts: 20, backoffMs: 200, factor: 1 } })]),
  );
  await places('late', 2);
  letGo(harness, 'late');
  expect(await harness.result(first)).toMatchObject({ outcome: 'completed' });
  expect(await harness.result(retried)).toMatchObject({ outcome: 'completed' });
});

test('a run that is terminated leaves its place once its command has ended', async () => {
  const first = await start(using('ended', { how: 'waits' }));
  await has('ended');
  const second = await start(using('ended', { forMs: 100 }));
  await places('ended', 2);
  await harness.workflow(first).terminate('somebody ended it');
  expect(await harness.result(second)).toMatchObject({ outcome: 'completed' });
  expect(mostAtOnce(spansOf(harness, 'ended'))).toBe(1);
});

test.each([
  ['quick', 'lease/quick: only a long command waits for a lease'],
  ['written', 'lease/written: a lease is asked for before the first statement'],
])('a command that is %s is refused', async (name, message) => {
  const handle = await start(once('refused', [{ type: 'command', command: `lease/${name}`, params: {} }]));
  const { failure } = await harness.result(handle);
  expect(failure).toMatchObject({ code: 'LEASE_REFUSED', message: expect.stringContaining(message) as string });
});
