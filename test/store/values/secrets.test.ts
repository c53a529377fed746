/** Sealed values: kept while a run under way may hold their token, and no longer. */
import { expect, test } from 'vitest';
import { scheduleOwner } from '../../../prisma/store/values/secrets.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();
let seals = 0;

async function seal(owner: string, namespace?: string): Promise<string> {
  seals += 1;
  const token = `sealed_A_TOKEN_${seals}`;
  await opened.store.secrets.keep(owner, new Map([[token, 'value']]), namespace);
  return token;
}

async function begin(handle: string): Promise<void> {
  await opened.store.runs.create({
    handle,
    name: 'n',
    definitionHash: 'h',
    project: '/p',
    persona: 'ada',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  });
}

async function end(handle: string): Promise<void> {
  await opened.store.events.append(handle, [started(1), finished(2)]);
}

/** Everything that happened so far was so many hours earlier. */
async function pass(hours: number): Promise<void> {
  const { database } = opened;
  await database.query(`update runs set finished_at = finished_at - $1 * interval '1 hour'`, [hours]);
  await database.query(
    `update sealed_values set created_at = created_at - $1 * interval '1 hour', retired_at = retired_at - $1 * interval '1 hour'`,
    [hours],
  );
  await opened.store.secrets.sweep();
}

const isKept = async (owner: string, token: string): Promise<boolean> =>
  (await opened.store.secrets.tokensOf(owner)).includes(token);

test('those of a run go a day after it and the runs inside it have ended', async () => {
  const token = await seal('run');
  await begin('run');
  await begin('run/steps.0@1');
  await end('run');
  await pass(25);
  expect(await isKept('run', token)).toBe(true);
  await end('run/steps.0@1');
  await pass(1);
  expect(await isKept('run', token)).toBe(false);
});

test('those of a run stay while a run goes on that a step of it, or of such a run, started', async () => {
  const [first, second] = [await seal('starts'), await seal('run-1')];
  for (const [handle, by] of [
    ['run-1', 'starts'],
    ['run-2', 'run-1/steps.0@1'],
  ] as const)
    await opened.store.cassettes.startedBy(handle, by);
  for (const handle of ['starts', 'run-1', 'run-2', 'run-2/steps.0@1']) await begin(handle);
  for (const handle of ['starts', 'run-1', 'run-2']) await end(handle);
  await pass(25);
  expect([await isKept('starts', first), await isKept('run-1', second)]).toEqual([true, true]);
  await end('run-2/steps.0@1');
  await pass(1);
  expect([await isKept('starts', first), await isKept('run-1', second)]).toEqual([false, false]);
});

test('those of a start that came to nothing go after a day', async () => {
  const token = await seal('never-started');
  await pass(23);
  expect(await isKept('never-started', token)).toBe(true);
  await pass(2);
  expect(await isKept('never-started', token)).toBe(false);
});

test('those of a schedule stay until it is removed, however long it takes', async () => {
  const owner = scheduleOwner('nightly');
  const [token, replaced] = [await seal(owner), await seal(owner)];
  await begin('nightly-2026-01-01T03:00:00Z');
  await end('nightly-2026-01-01T03:00:00Z');
  await pass(1_000);
  expect(await opened.store.secrets.tokensOf(owner)).toHaveLength(2);
  await opened.store.secrets.retire([replaced], { mayBeHeld: false });
  expect(await opened.store.secrets.tokensOf(owner)).toEqual([token]);
  await opened.store.secrets.retire([token], { mayBeHeld: false });
  expect(await isKept(owner, token)).toBe(false);
});

test('a run of a removed schedule that goes on keeps them to its end', async () => {
  const owner = scheduleOwner('hourly');
  const token = await seal(owner);
  await begin('hourly-2026-01-01T03:00:00Z');
  await opened.store.secrets.retire([token], { mayBeHeld: false });
  await pass(100);
  expect(await isKept(owner, token)).toBe(true);
  await end('hourly-2026-01-01T03:00:00Z');
  await pass(0);
  expect(await isKept(owner, token)).toBe(false);
});

test('a run that only Temporal knows of keeps them for a day', async () => {
  const owner = scheduleOwner('late');
  const token = await seal(owner);
  await opened.store.secrets.retire([token], { mayBeHeld: true });
  await pass(23);
  expect(await isKept(owner, token)).toBe(true);
  await pass(2);
  expect(await isKept(owner, token)).toBe(false);
});

test('a run of another schedule, or one by hand, whose handle only begins alike keeps nothing', async () => {
  const owner = scheduleOwner('a');
  const token = await seal(owner);
  await begin('a-b-2026-01-01T03:00:00Z');
  await begin('a-by-hand');
  await opened.store.secrets.retire([token], { mayBeHeld: false });
  expect(await isKept(owner, token)).toBe(false);
});

test("those of a namespace's schedules are listed after a day, in pages, but not those of runs, retired ones, or another's", async () => {
  const { secrets } = opened.store;
  const schedules = Array.from({ length: 150 }, (_, nth) => `s-${String(nth).padStart(3, '0')}`);
  for (const id of schedules) await seal(scheduleOwner(id), 'here');
  const second = await seal(scheduleOwner('s-000'), 'here');
  await seal(scheduleOwner('s-other'), 'there');
  await seal(scheduleOwner('s-older'));
  await secrets.retire([await seal(scheduleOwner('s-retired'), 'here')], { mayBeHeld: true });
  expect(await secrets.ofSchedules('here', '')).toEqual([]);
  await pass(25);
  await seal(scheduleOwner('s-new'), 'here');
  const first = await secrets.ofSchedules('here', '');
  const rest = await secrets.ofSchedules('here', first.at(-1)?.schedule ?? '');
  expect([...first, ...rest].map(({ schedule }) => schedule)).toEqual(schedules);
  expect(first[0]?.tokens).toHaveLength(2);
  expect(first[0]?.tokens).toContain(second);
  expect(await secrets.ofSchedules('here', 's-149')).toEqual([]);
});
