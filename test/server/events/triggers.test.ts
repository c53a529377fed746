/** Runs that start by themselves: on a clock, and once for each event. */
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ClockChange } from '../../../runs/calendar/clock-changes.ts';
import { createSchedule, describeSchedule, listSchedules, steerSchedule } from '../../../runs/schedules.ts';
import { sealEnvironment } from '../../../runs/seal-environment.ts';
import type { RunServices } from '../../../runs/start-run.ts';
import { sweepSchedules } from '../../../runs/sweep-schedules.ts';
import { namespaceId } from '../../../runs/temporal-connection.ts';
import { addTrigger, type TriggerRequest } from '../../../client/triggers/triggers.ts';
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { scheduleOwner } from '../../../prisma/store/values/secrets.ts';
import type { TriggerStart } from '../../../prisma/store/contract/trigger-contract.ts';
import { workflowIdOf } from '../../../workflows/messages/messages.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';
import { catalogue } from '../../catalogue.ts';

let harness: Harness;
let parts: RunServices;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  harness = await Harness.open();
  parts = { store: harness.store, client: harness.client, catalogue, taskQueue: harness.taskQueue };
  workers.push(await harness.startWorker(), await harness.startWorker());
});
afterAll(() => harness.close());

const request = (definition: Definition, rest: Partial<TriggerRequest> = {}): TriggerRequest => ({
  definition,
  inputs: {},
  project: harness.project,
  persona: 'tester',
  ...rest,
});

/** Writes down what started it. */
const noting = (name: string, rest: Partial<Definition> = {}): Definition =>
  once(name, [create(name, { event: '$event', who: '$who' })], { inputs: { who: 'nobody' }, ...rest });

const emit = (name: string, data: Json, id: string = randomUUID()): Promise<{ isNew: boolean }> =>
  harness.store.triggers.publish({ source: '@emit', id, name, data, project: null });

async function startsOf(id: string, count: number): Promise<TriggerStart[]> {
  await until(
    async () =>
      (await harness.store.triggers.starts(id, 1000)).filter(({ state }) => state === 'started').length >= count,
  );
  return harness.store.triggers.starts(id, 1000);
}

async function addEvent(definition: Definition, event: string, rest: Partial<TriggerRequest> = {}): Promise<string> {
  const added = await addTrigger(parts, request(definition, { event, ...rest }));
  if (added.type !== 'event') throw new Error('it starts otherwise');
  return added.trigger.id;
}

test('a schedule starts runs by itself and on demand, each with a row and a handle of its own', async () => {
  const id = `beat-${randomUUID().slice(0, 8)}`;
  const definition = noting('beat', {
    trigger: { type: 'schedule', cronExpression: '@every 1s', overlap: 'all', jitterMs: 0 },
  });
  const added = await addTrigger(parts, request({ ...definition, id }, { inputs: { who: 'the clock' } }));
  expect(added).toMatchObject({
    type: 'schedule',
    schedule: { id, cron: '@every 1s', timeZone: 'UTC', overlap: 'all', catchupWindowMs: 600_000, isPaused: false },
  });
  try {
    await until(async () => (await harness.rows('beat')).length >= 2);
    await steerSchedule(parts, id, 'pause', 'enough');
    const { runs } = await describeSchedule(harness.client, id);
    const handle = runs[0]?.handle ?? '';
    expect(handle).toMatch(new RegExp(`^${id}-\\d{4}-\\d\\d-\\d\\dT`));
    expect((await harness.result(handle)).outcome).toBe('completed');
    expect(await harness.store.runs.find(handle)).toMatchObject({
      name: 'beat',
      status: 'completed',
      parent: null,
      persona: 'tester',
      project: harness.project,
    });
    expect((await harness.events(handle))[0]).toMatchObject({
      type: 'run-started',
      origin: { type: 'schedule', schedule: id },
    });
    expect((await harness.rows('beat'))[0]).toEqual({ event: null, who: 'the clock' });

    expect(await describeSchedule(harness.client, id)).toMatchObject({ isPaused: true, note: 'enough' });
    await steerSchedule(parts, id, 'pause');
    expect(await describeSchedule(harness.client, id)).toMatchObject({ isPaused: true, note: 'by hand' });
    const before = (await describeSchedule(harness.client, id)).runs.length;
    await steerSchedule(parts, id, 'trigger');
    await until(async () => (await describeSchedule(harness.client, id)).runs.length > before);
    await until(async () =>
      (await listSchedules(harness.client)).some((schedule) => schedule.id === id && schedule.cron === '@every 1s'),
    );
  } finally {
    await steerSchedule(parts, id, 'delete');
  }
  await expect(describeSchedule(harness.client, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a schedule keeps what it was told, is not made twice, and can be replaced', async () => {
  const id = `nightly-${randomUUID().slice(0, 8)}`;
  const given = {
    ...request(noting('nightly')),
    id,
    cron: '0 3 1 * MON',
    timeZone: 'Europe/Zurich',
    overlap: 'buffer',
    catchupWindowMs: 60_000,
    jitterMs: 5000,
    isPaused: true,
  } as const;
  await createSchedule(parts, given);
  const { spec, policies } = await harness.client.schedule.getHandle(id).describe();
  expect(policies).toMatchObject({ overlap: 'BUFFER_ONE', catchupWindow: 60_000 });
  expect(spec).toMatchObject({ timezone: 'Europe/Zurich', jitter: 5000 });
  // Either the first of the month or a Monday, as cron has it.
  expect(spec.calendars).toHaveLength(2);
  await expect(createSchedule(parts, given)).rejects.toMatchObject({ code: 'HANDLE_TAKEN' });
  await expect(createSchedule(parts, { ...given, cron: '0 25 * * *' })).rejects.toMatchObject({ code: 'USAGE' });
  expect(await createSchedule(parts, { ...given, cron: '@daily', replace: true })).toMatchObject({
    cron: '@daily',
    overlap: 'buffer',
  });
  expect(await createSchedule(parts, { ...given, cron: '@daily', isPaused: false, replace: true })).toMatchObject({
    cron: '@daily',
    isPaused: false,
  });
  await steerSchedule(parts, id, 'delete');
});

test('a schedule says which of its starts fall into an hour that a clock leaves out, as the server does, or repeats', async () => {
  const id = `clock-${randomUUID().slice(0, 8)}`;
  const nextAt = async (cron: string): Promise<{ next: number[]; changes: ClockChange[] }> => {
    const given = { ...request(noting('clock')), id, cron, timeZone: 'Europe/Zurich', replace: true };
    const { next, clockChanges = [] } = await createSchedule(parts, given);
    return { next, changes: clockChanges };
  };
  const { changes } = await nextAt('30 2 * * *');
  expect(changes.map(({ what }) => what).toSorted()).toEqual(['repeated', 'skipped']);
  expect((await nextAt('30 4 * * *')).changes).toEqual([]);
  const [year, month, day] = (changes.find(({ what }) => what === 'skipped')?.at ?? '')
    .slice(0, 10)
    .split('-')
    .map(Number);
  const [first = 0] = (await nextAt(`30 2 ${day} ${month} *`)).next;
  expect(new Date(first).getUTCFullYear()).toBeGreaterThan(year ?? 0);
  await steerSchedule(parts, id, 'delete');
});

test('what was sealed for a schedule goes when it is replaced or removed, but not from under a run of it', async () => {
  const id = `sealed-${randomUUID().slice(0, 8)}`;
  const kept = (): Promise<string[]> => harness.store.secrets.tokensOf(scheduleOwner(id));
  const line = shell('touch begun; while [ ! -e on ]; do sleep 0.1; done; printf %s "$A" | wc -c', {
    env: { A: '{{env.SCHEDULED_TOKEN}}' },
    outputTo: 'said',
  });
  const given = { ...request(once('sealed', [line], { env: ['SCHEDULED_TOKEN'] })), id, cron: '@yearly' };
  process.env['SCHEDULED_TOKEN'] = 's3cret';
  onTestFinished(() => void Reflect.deleteProperty(process.env, 'SCHEDULED_TOKEN'));
  await createSchedule(parts, given);
  const first = await kept();
  expect(first).toHaveLength(1);
  await expect(createSchedule(parts, given)).rejects.toMatchObject({ code: 'HANDLE_TAKEN' });
  expect(await kept()).toEqual(first);
  await createSchedule(parts, { ...given, replace: true });
  const second = await kept();
  expect(second).toHaveLength(1);
  expect(second).not.toEqual(first);
  await steerSchedule(parts, id, 'delete');
  expect(await kept()).toEqual([]);

  await createSchedule(parts, given);
  await steerSchedule(parts, id, 'trigger');
  await until(() => existsSync(join(harness.project, 'begun')));
  const { runs } = await describeSchedule(harness.client, id);
  await createSchedule(parts, { ...given, cron: '@monthly', replace: true });
  expect(await kept()).toHaveLength(2);
  await steerSchedule(parts, id, 'delete');
  expect(await kept()).toHaveLength(2);
  writeFileSync(join(harness.project, 'on'), '');
  const { outputs } = await harness.result(runs[0]?.handle ?? '');
  expect((outputs['said'] as { stdout: string }).stdout.trim()).toBe('6');
});

test('what was sealed for a schedule that Temporal does not have goes, a day later; what one holds stays', async () => {
  process.env['SCHEDULED_TOKEN'] = 's3cret';
  onTestFinished(() => void Reflect.deleteProperty(process.env, 'SCHEDULED_TOKEN'));
  const [kept = '', removed = '', changed = ''] = ['kept', 'removed', 'changed'].map(
    (name) => `${name}-${randomUUID().slice(0, 8)}`,
  );
  const given = {
    ...request(
      once('sealed', [shell('true', { env: { A: '{{env.SCHEDULED_TOKEN}}' } })], { env: ['SCHEDULED_TOKEN'] }),
    ),
    cron: '@yearly',
  };
  for (const id of [kept, removed, changed]) await createSchedule(parts, { ...given, id });
  const own = (id: string): Promise<string[]> => harness.store.secrets.tokensOf(scheduleOwner(id));
  // As a creation leaves one of which nobody knows whether it was made.
  await sealEnvironment(
    harness.store,
    scheduleOwner(changed),
    { SCHEDULED_TOKEN: 'other' },
    await namespaceId(harness.client),
  );
  await harness.client.schedule.getHandle(removed).delete();
  const before = await own(changed);
  expect(before).toHaveLength(2);
  await sweepSchedules(parts);
  await harness.store.secrets.sweep();
  expect(await own(removed)).toHaveLength(1);
  for (const _ of ['retired', 'gone']) {
    await aDayLater();
    await sweepSchedules(parts);
    await harness.store.secrets.sweep();
  }
  expect(await own(removed)).toEqual([]);
  expect(await own(kept)).toHaveLength(1);
  const after = await own(changed);
  expect(after).toEqual(before.slice(0, 1));
  const { action } = await harness.client.schedule.getHandle(changed).describe();
  expect(JSON.stringify(action.args)).toContain(after[0]);
  for (const id of [kept, changed]) await steerSchedule(parts, id, 'delete');
});

/** To the values that were sealed. */
async function aDayLater(): Promise<void> {
  const client = new Client({ connectionString: harness.databaseUrl });
  await client.connect();
  await client.query(
    `update sealed_values set created_at = created_at - interval '25 hours', retired_at = retired_at - interval '25 hours'`,
  );
  await client.end();
}

test('each event starts one run, with its data as $event, whoever publishes it and how often', async () => {
  const id = await addEvent(noting('noted'), 'order:*', { inputs: { who: 'ada' } });
  const emitter = once('emitter', [{ type: 'emit', event: 'order:placed', data: { n: 0 } }]);
  await harness.run(emitter);
  for (let n = 1; n <= 10; n += 1) {
    const name = n % 2 === 0 ? 'order:placed' : 'order:paid';
    expect((await emit(name, { n }, `order-${n}`)).isNew).toBe(true);
    expect((await emit(name, { n }, `order-${n}`)).isNew).toBe(false);
  }
  await emit('order:placed:twice', { n: 99 });
  const starts = await startsOf(id, 11);
  expect(starts).toHaveLength(11);
  await Promise.all(starts.map(({ handle }) => harness.result(handle)));
  const rows = (await harness.rows('noted')) as { event: { n: number }; who: string }[];
  expect(rows.map(({ event }) => event.n).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(rows[0]?.who).toBe('ada');
  const first = starts.at(-1);
  expect((await harness.events(first?.handle ?? ''))[0]).toMatchObject({
    type: 'run-started',
    name: 'noted',
    origin: { type: 'event', trigger: id, event: 'order:placed' },
  });
});

test('a definition that loops over the events that start it has one run at a time, and no event is left out or seen twice', async () => {
  const looped = {
    ...once('looped', [create('looped', { n: '$event.n' })]),
    loop: { type: 'event', event: 'tick', max: 3 },
  } satisfies Definition;
  const id = await addEvent(looped, 'tick');
  for (let n = 1; n <= 7; n += 1) await emit('tick', { n });
  await until(async () => (await harness.rows('looped')).length >= 7);
  expect((await harness.rows('looped')).map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const starts = (await harness.store.triggers.starts(id, 100)).toReversed();
  expect(starts.map(({ state }) => state)).toEqual([
    'started',
    'taken',
    'taken',
    'started',
    'taken',
    'taken',
    'started',
  ]);
  await emit('tick', { n: 8 });
  await emit('tick', { n: 9 });
  const last = starts.at(-1)?.handle ?? '';
  expect((await harness.result(last)).iterations).toBe(3);
  await until(
    async () =>
      (await harness.store.triggers.starts(id, 100)).filter(({ state, heldBy }) => state === 'taken' && heldBy === last)
        .length === 2,
  );
});

test('the end of a run starts another', async () => {
  const id = await addEvent(noting('after'), 'sentinel:finished:before');
  const { handle } = await harness.run(once('before', [create('before', {})]));
  const [start] = await startsOf(id, 1);
  await harness.result(start?.handle ?? '');
  expect((await harness.rows('after'))[0]).toMatchObject({
    event: {
      handle,
      name: 'sentinel:finished:before',
      data: { name: 'before' },
      status: 'completed',
      outcome: 'completed',
      parent: null,
    },
  });
});

test('immediate starts once at registration, manual does not register', async () => {
  const definition = noting('at-once', { trigger: { type: 'immediate' } });
  const first = await addTrigger(parts, request(definition));
  const again = await addTrigger(parts, request(definition));
  expect([first, again]).toMatchObject([{ type: 'immediate', run: { isNew: true } }, { run: { isNew: false } }]);
  if (first.type !== 'immediate' || again.type !== 'immediate') throw new Error('it starts otherwise');
  expect(again.run.handle).toBe(first.run.handle);
  await harness.result(first.run.handle);
  expect(await harness.rows('at-once')).toHaveLength(1);
  await expect(addTrigger(parts, request(noting('by-hand')))).rejects.toMatchObject({ code: 'USAGE' });
});

test('no event is lost or starts two runs when every worker dies', async () => {
  const id = await addEvent(noting('survived'), 'storm');
  for (let n = 0; n < 40; n += 1) await emit('storm', n);
  await until(async () => (await harness.store.triggers.starts(id, 100)).some(({ state }) => state === 'started'));
  await Promise.all(workers.map((worker) => worker.kill9()));
  for (let n = 40; n < 60; n += 1) await emit('storm', n);
  // A start that a dead worker had claimed is claimed again when its lease ends; two new workers share the rest.
  await Promise.all([harness.startWorker(), harness.startWorker()]);
  const starts = await startsOf(id, 60);
  expect(starts).toHaveLength(60);
  await Promise.all(starts.map(({ handle }) => harness.result(handle)));
  const noted = (await harness.rows('survived')) as { event: { data: number } }[];
  expect(noted.map(({ event }) => event.data).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, n) => n),
  );
  const description = await harness.client.workflow.getHandle(workflowIdOf(starts[0]?.handle ?? '')).describe();
  expect(description.status.name).toBe('COMPLETED');
}, 240_000);
