/** Triggers that look at what an event carries, and triggers that wait until no further event comes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { filterVerdict } from '../../../language/events/trigger-filter.ts';
import type { Json } from '../../../language/json.ts';
import type { Trigger, TriggerStart } from '../../../prisma/store/contract/trigger-contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { outside, spread, useTriggers } from '../harness/triggered.ts';

const { opened, add, spreadAll } = useTriggers(filterVerdict);

const publish = async (data: Json = null, name = 'git:push'): Promise<number> =>
  (await opened.store.triggers.publish(outside({ name, data }))).seq;

const starts = async ({ id }: Trigger): Promise<TriggerStart[]> =>
  (await opened.store.triggers.starts(id, 1_000)).toReversed();

const claim = async (): Promise<Json[]> =>
  (await opened.store.triggers.claim(10, 60_000)).map(({ event }) => event.data);

const states = async (trigger: Trigger): Promise<string[]> => (await starts(trigger)).map(({ state }) => state);

test('only events for which the filter holds start something', async () => {
  const trigger = await add({ filter: "$event.branch === 'main' && event.data.files.length > 1" });
  expect((await opened.store.triggers.list())[0]).toMatchObject({ filter: trigger.filter, debounceMs: null });
  await publish({ branch: 'main', files: ['a', 'b'] });
  await publish({ branch: 'other', files: ['a', 'b'] });
  await publish({ branch: 'main', files: ['a'] });
  await publish({ branch: 'main' });
  await publish('a text');
  await spreadAll();
  expect((await starts(trigger)).map(({ event, state }) => [event.data, state])).toEqual([
    [{ branch: 'main', files: ['a', 'b'] }, 'waiting'],
  ]);
});

test('a filter that fails is told, and starts nothing', async () => {
  const trigger = await add({ filter: "$event.branch.includes('x')" });
  await publish({ branch: 7 });
  await spreadAll();
  const [start] = await starts(trigger);
  expect(start).toMatchObject({ state: 'refused' });
  expect(start?.reason).toMatch(/^its filter \$event\.branch\.includes\('x'\) failed: ./);
  expect(await opened.store.triggers.claim(10, 60_000)).toEqual([]);
});

test('registered again without a filter, every event counts', async () => {
  await add({ filter: 'false', debounceMs: 60_000 });
  const trigger = await add({});
  expect(trigger).toMatchObject({ filter: null, debounceMs: null });
  await publish();
  await spreadAll();
  expect(await opened.store.triggers.claim(10, 60_000)).toHaveLength(1);
});

test('one run starts when it has been quiet for so long, with the last event', async () => {
  const trigger = await add({ debounceMs: 800 });
  for (const n of [1, 2, 3]) {
    await publish({ n });
    await spreadAll();
    expect(await claim()).toEqual([]);
    await sleep(400);
  }
  expect(await states(trigger)).toEqual(['superseded', 'superseded', 'waiting']);
  const [first, second, third] = await starts(trigger);
  expect([first?.heldBy, second?.heldBy]).toEqual([second?.handle, third?.handle]);
  await sleep(500);
  expect(await claim()).toEqual([{ n: 3 }]);
  // What a worker has in hand stays with it.
  await publish({ n: 4 });
  await spreadAll();
  expect(await states(trigger)).toEqual(['superseded', 'superseded', 'waiting', 'waiting']);
});

test('events that the filter leaves out neither start anything nor put anything off', async () => {
  const trigger = await add({ debounceMs: 600, filter: '$event.n > 0' });
  await publish({ n: 1 });
  await spreadAll();
  await sleep(400);
  await publish({ n: 0 });
  await spreadAll();
  await sleep(300);
  expect((await opened.store.triggers.claim(10, 60_000)).map(({ event }) => event.data)).toEqual([{ n: 1 }]);
  expect(await states(trigger)).toEqual(['waiting']);
});

test('many events, spread by several workers at once, are one start, of the last of them', async () => {
  const trigger = await add({ debounceMs: 1_500 });
  const others = [
    openStore({ url: opened.database.url, poolSize: 2 }),
    openStore({ url: opened.database.url, poolSize: 2 }),
  ];
  try {
    const seqs = await Promise.all(Array.from({ length: 350 }, (_, n) => publish({ n })));
    const work = [opened.store, ...others].map(async (store) => {
      while ((await spread(store, filterVerdict)) > 0);
    });
    await Promise.all(work);
    await spreadAll();
    const found = await starts(trigger);
    expect(found).toHaveLength(350);
    const waiting = found.filter(({ state }) => state === 'waiting');
    expect(waiting.map(({ event }) => event.seq)).toEqual([Math.max(...seqs)]);
    expect(found.filter(({ state }) => state === 'superseded')).toHaveLength(349);
  } finally {
    for (const store of others) await store.close();
  }
});

test('each trigger waits for its own quiet', async () => {
  const slow = await add({ debounceMs: 60_000 });
  const quick = await add({ name: 'builder' });
  await publish();
  await publish();
  await spreadAll();
  expect(await states(slow)).toEqual(['superseded', 'waiting']);
  expect(await states(quick)).toEqual(['waiting', 'waiting']);
  expect(await opened.store.triggers.claim(10, 60_000)).toHaveLength(2);
});
