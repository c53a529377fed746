/** Triggers: each event becomes one start for each trigger that matches it, whoever looks and how often. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { Question } from '../../../language/events/question.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { CHAIN_MAX } from '../../../prisma/store/events/spread.ts';
import type { OutsideEvent } from '../../../prisma/store/contract/trigger-contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { finished, started } from '../harness/opened.ts';
import { newTrigger, outside, rowOf, spread, useTriggers } from '../harness/triggered.ts';

const { opened, add, spreadAll } = useTriggers();

test('a trigger is registered once a name and project; registering again replaces what it starts', async () => {
  const { triggers } = opened.store;
  const first = await triggers.add(newTrigger());
  expect(first).toMatchObject({ isNew: true, trigger: { ...newTrigger(), isPaused: false } });
  await triggers.pause(first.trigger.id, true);
  const again = await triggers.add(newTrigger({ event: 'deploy:**', definitionHash: 'other' }));
  expect(again).toMatchObject({
    isNew: false,
    trigger: { id: first.trigger.id, event: 'deploy:**', definitionHash: 'other', isPaused: false },
  });
  await triggers.add(newTrigger({ project: '/b' }));
  expect((await triggers.list()).map(({ name, project }) => [name, project])).toEqual([
    ['reviewer', '/a'],
    ['reviewer', '/b'],
  ]);
  expect(await triggers.remove(first.trigger.id)).toBe(true);
  expect(await triggers.remove(first.trigger.id)).toBe(false);
  expect(await triggers.pause(first.trigger.id, true)).toBe(false);
});

test('an event is published once an id and source', async () => {
  const { triggers } = opened.store;
  const event = outside();
  const first = await triggers.publish(event);
  expect(first.isNew).toBe(true);
  expect(await triggers.publish({ ...event, data: 'other' })).toEqual({ seq: first.seq, isNew: false });
  expect((await triggers.publish({ ...event, source: '@webhook' })).isNew).toBe(true);
  const many = await Promise.all(Array.from({ length: 10 }, () => triggers.publish({ ...event, id: 'the same' })));
  expect(many.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(many.map(({ seq }) => seq)).size).toBe(1);
});

describe('what a trigger sees', () => {
  const cases: { title: string; event: Partial<OutsideEvent>; pattern?: string; isSeen: boolean }[] = [
    { title: 'an event its pattern matches', event: {}, isSeen: true },
    { title: 'no other', event: { name: 'deploy:done' }, isSeen: false },
    { title: 'nothing across a colon unless it says so', event: { name: 'git:push:main' }, isSeen: false },
    { title: 'anything with two stars', event: { name: 'git:push:main' }, pattern: 'git:**', isSeen: true },
    { title: 'an event of its project', event: { project: '/a' }, isSeen: true },
    { title: 'none of another project', event: { project: '/b' }, isSeen: false },
  ];

  test.each(cases)('$title', async ({ event, pattern = 'git:*', isSeen }) => {
    const { id } = await add({ event: pattern });
    await opened.store.triggers.publish(outside(event));
    await spreadAll();
    expect(await opened.store.triggers.starts(id, 10)).toHaveLength(isSeen ? 1 : 0);
  });

  test('nothing from before it was registered, nor while it is paused', async () => {
    const { triggers } = opened.store;
    await add({ name: 'another', event: 'x' });
    await triggers.publish(outside({ id: 'before' }));
    const { id } = await add();
    await triggers.publish(outside({ id: 'after' }));
    await spreadAll();
    await triggers.pause(id, true);
    await triggers.publish(outside({ id: 'paused' }));
    await spreadAll();
    await triggers.pause(id, false);
    await triggers.publish(outside({ id: 'resumed', data: 'last' }));
    await spreadAll();
    expect((await triggers.starts(id, 10)).map(({ event }) => event.data)).toEqual([
      'last',
      { n: expect.any(Number) as number },
    ]);
  });

  test('nothing that was published while it was paused, also if no worker looked at it meanwhile', async () => {
    const { triggers } = opened.store;
    const { id } = await add();
    await triggers.pause(id, true);
    await triggers.publish(outside({ data: 'paused' }));
    await triggers.pause(id, false);
    await triggers.publish(outside({ data: 'resumed' }));
    await spreadAll();
    await triggers.pause(id, true);
    await triggers.publish(outside({ data: 'paused again' }));
    await add();
    await triggers.publish(outside({ data: 'registered again' }));
    await spreadAll();
    expect((await triggers.starts(id, 10)).map(({ event }) => event.data)).toEqual(['registered again', 'resumed']);
  });

  test('an event whose transaction commits late', async () => {
    const { store } = opened;
    const { id } = await add();
    const late = store.session();
    await store.signals.publish(late, { handle: 'late', key: 'steps.0@1', name: 'git:push', data: 'late' });
    await store.triggers.publish(outside({ data: 'early' }));
    await spreadAll();
    await late.commit({ handle: 'late', key: 'k', result: null, events: [] });
    await late.close();
    await spreadAll();
    expect((await store.triggers.starts(id, 10)).map(({ event }) => event.data)).toEqual(
      expect.arrayContaining(['early', 'late']),
    );
  });
});

test('what was published without any trigger is behind the first one', async () => {
  await opened.store.triggers.publish(outside());
  const { id } = await add();
  await spreadAll();
  expect(await opened.store.triggers.starts(id, 10)).toEqual([]);
});

test('several stores share the work, and each start is claimed once', async () => {
  const { store } = opened;
  await add({ name: 'one' });
  await add({ name: 'two' });
  for (let turn = 0; turn < 150; turn += 1) await store.triggers.publish(outside());
  const others = [openStore({ url: opened.database.url }), openStore({ url: opened.database.url }), store];
  const handles: string[] = [];
  await Promise.all(
    others.map(async (other) => {
      while ((await spread(other)) > 0);
    }),
  );
  await Promise.all(
    others.map(async ({ triggers }) => {
      for (;;) {
        const claimed = await triggers.claim(7, 60_000);
        if (claimed.length === 0) return;
        handles.push(...claimed.map((start) => start.handle));
        for (const start of claimed) await triggers.settle(start, { state: 'started' });
      }
    }),
  );
  expect(handles).toHaveLength(300);
  expect(new Set(handles).size).toBe(300);
  await Promise.all(others.slice(0, 2).map((other) => other.close()));
});

test('a lease that ran out gives the start to another, and the first can settle it no more', async () => {
  const { triggers } = opened.store;
  const { id } = await add();
  await triggers.publish(outside());
  await spreadAll();
  const [first] = await triggers.claim(10, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const [second] = await triggers.claim(10, 60_000);
  expect(first).toMatchObject({
    attempts: 1,
    trigger: { id, name: 'reviewer', inputs: { depth: 1 } },
    event: { name: 'git:push' },
  });
  expect(second).toMatchObject({
    attempts: 2,
    handle: first?.handle,
    trigger: { createdAt: first?.trigger.createdAt },
  });
  if (first === undefined || second === undefined) throw new Error('nothing was claimed');
  await triggers.settle(first, { state: 'refused', reason: 'too late' });
  expect(await triggers.starts(id, 1)).toMatchObject([{ state: 'waiting' }]);
  await triggers.settle(second, { state: 'waiting', reason: 'the server is away', retryMs: 60_000 });
  expect(await triggers.starts(id, 1)).toMatchObject([{ state: 'waiting', reason: 'the server is away' }]);
  expect(await triggers.claim(10, 1)).toEqual([]);
});

test('a chain of runs that start runs by their events ends', async () => {
  const { store } = opened;
  const { id } = await add({ event: 'sentinel:finished:reviewer' });
  await store.triggers.publish(outside({ name: 'sentinel:finished:reviewer' }));
  for (let turn = 0; turn <= CHAIN_MAX; turn += 1) {
    await spreadAll();
    const [start] = await store.triggers.claim(10, 60_000);
    if (start === undefined) break;
    await store.events.append(start.handle, [started(0, 'reviewer'), finished(9)]);
    await store.triggers.settle(start, { state: 'started' });
  }
  const starts = await store.triggers.starts(id, 100);
  expect(starts.filter(({ state }) => state === 'started')).toHaveLength(CHAIN_MAX);
  expect(starts[0]).toMatchObject({ state: 'refused', reason: expect.stringMatching(/a chain of 16 runs/) as string });
});

test('a run tells of its status and its end, once, whatever texts it holds', async () => {
  const { store } = opened;
  const { id } = await add({ event: 'sentinel:**' });
  const hard = { code: 'X', message: 'NUL \0 half \ud800 quote " tick \'', retryable: false };
  const events = [
    started(0, 'a:b "c"'),
    { type: 'paused', seq: 1, at: 5, key: '', reason: 'NUL \0' } as const,
    { type: 'resumed', seq: 2, at: 6, key: '' } as const,
    finished(3, { status: 'failed', outcome: 'failed', failure: hard }),
  ];
  await store.events.append('told', events.slice(0, 1));
  await store.events.append('told', events.slice(1));
  await store.events.append('told', events);
  await store.events.append('told', events.slice(0, 1));
  await spreadAll();
  const seen = (await store.triggers.starts(id, 100)).map(({ event }) => event).toReversed();
  expect(seen.map(({ name }) => name)).toEqual([
    ...Array.from({ length: 4 }, () => 'sentinel:told:status'),
    'sentinel:finished:a:b "c"',
  ]);
  expect(seen.map(({ data }) => data)).toMatchObject([
    { name: 'a:b "c"', parent: null, handle: 'told', status: 'running' },
    { name: 'a:b "c"', parent: null, handle: 'told', status: 'paused', reason: 'NUL \0', at: 5 },
    { status: 'running' },
    { status: 'failed', outcome: 'failed', failure: hard },
    { name: 'a:b "c"', status: 'failed', durationMs: 3, iterations: 1 },
  ]);
});

/** What a run's batches of events tell of its status. */
async function toldBy(handle: string, batches: RunEvent[][]): Promise<unknown[]> {
  const { store } = opened;
  const added = await add({ event: `sentinel:${handle}:status` });
  for (const batch of batches) await store.events.append(handle, batch);
  await spreadAll();
  return (await store.triggers.starts(added.id, 100))
    .toReversed()
    .map(({ event }) => (event.data as { status: string }).status);
}

describe('of the status of a run', () => {
  const id = 'steps.0@1';
  const question: Question = {
    id,
    kind: 'approval',
    message: 'Ship it?',
    choices: ['approve'],
    show: null,
    form: null,
    assignee: 'ada',
    priority: 'normal',
    askedAt: 1,
    expiresAt: null,
    digest: 'd',
  };
  const asked = (seq: number): RunEvent => ({ type: 'asked', seq, at: seq, key: id, question });
  const left = (seq: number, open: number, held = false): RunEvent => ({
    type: 'withdrawn',
    seq,
    at: seq,
    key: id,
    id,
    open,
    held,
  });

  test('a question tells that it waits, and the last answer that it goes on', async () => {
    const batches = [
      [started(0), asked(1), asked(2)],
      [left(3, 1)],
      [left(4, 0)],
      [asked(5)],
      [left(6, 0, true)],
      [{ type: 'resumed', seq: 7, at: 7, key: '', open: 1 } satisfies RunEvent],
      [left(8, 0), finished(9)],
    ];
    expect(await toldBy('asks', batches)).toEqual(['running', 'paused', 'paused', 'running', 'paused', 'completed']);
  });

  test('a run that begins and ends in one batch tells of its end alone', async () => {
    expect(await toldBy('short', [[started(0), finished(3)], [started(0)]])).toEqual(['completed']);
  });
});

describe('a trigger that is removed', () => {
  test('leaves the run that it started its cause, and its place in a chain', async () => {
    const { triggers, runs, signals } = opened.store;
    const { id } = await add();
    await triggers.publish(outside());
    await spreadAll();
    const [start] = await triggers.claim(1, 10_000);
    if (start === undefined) throw new Error('nothing to start');
    await triggers.settle(start, { state: 'started' });
    const { handle, event } = start;
    await runs.create(rowOf(handle), event.seq);
    await triggers.remove(id);
    expect(await signals.next({ handle, glob: 'git:*', withCause: true, consumed: {} })).toMatchObject({
      name: 'git:push',
      id: event.id,
    });
  });

  test('leaves nothing to start, also of events that are being looked at meanwhile', async () => {
    const { triggers } = opened.store;
    const client = new Client({ connectionString: opened.database.url });
    await client.connect();
    for (let turn = 0; turn < 20; turn += 1) {
      const { id } = await add();
      await Promise.all(Array.from({ length: 20 }, () => triggers.publish(outside())));
      await Promise.all([spread(opened.store), spread(opened.store), sleep(turn % 5).then(() => triggers.remove(id))]);
    }
    await spreadAll();
    const { rows } = await client.query<{ left: string }>(
      'select count(*) as left from trigger_starts s where not exists (select 1 from triggers t where t.id = s.trigger_id) and state <> $1',
      ['started'],
    );
    await client.end();
    expect(rows[0]?.left).toBe('0');
  });
});
