/** Workers feed whoever follows events: together, each event once and in order, and past one who fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { EventFeed, type Fed } from '../../../worker/background/event-feed.ts';
import { inspectRows } from '../../../services/inspect-rows.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();
const said: string[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  said.length = 0;
});

const publish = (...names: string[]): Promise<void> =>
  opened.store.signals.publishAll(names.map((name) => ({ handle: '@emit', key: name, name, data: null })));

/** As in a process of its own. */
function worker(fed: (store: Store) => readonly Fed[]): EventFeed {
  const store = openStore({ url: opened.database.url, poolSize: 4 });
  const feed = new EventFeed({ store, say: (text) => void said.push(text) });
  for (const one of fed(store)) feed.add(one);
  closers.push(
    () => store.close(),
    () => feed.close(),
  );
  return feed;
}

/** Writes the names of events into the records of a run, one after the other. */
function writer(name: string, event: string, rest: Partial<Fed> = {}): Fed {
  return {
    name,
    event,
    from: 'now',
    most: 10,
    withData: true,
    async feed({ events }, session) {
      for (const { name: text, position } of events)
        await session.write(
          `insert into run_events (handle, seq, type, event) values ($1, $2, 'warning', json_build_object('name', $3::text))`,
          [name, position, text],
        );
    },
    ...rest,
  };
}

async function written(name: string): Promise<string[]> {
  const rows = await opened.database.query<{ name: string }>(
    `select event->>'name' as name from run_events where handle = $1 order by seq`,
    [name],
  );
  return rows.map((row) => row.name);
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error('it did not come about');
    await sleep(20);
  }
}

test('several workers feed the same: each event once, in order, also what was published while there was none', async () => {
  const names = Array.from({ length: 300 }, (_, nth) => `shared:${nth}`);
  const order: number[] = [];
  const fed = writer('shared', 'shared:*');
  await opened.store.cursors.open(fed);
  await publish(...names.slice(0, 50));
  const watched: Fed = {
    ...fed,
    async feed(batch, session) {
      await fed.feed(batch, session);
      order.push(...batch.events.map(({ position }) => position));
    },
  };
  for (let nth = 0; nth < 3; nth += 1) worker(() => [watched]);
  for (const name of names.slice(50)) await publish(name);
  await until(async () => (await written('shared')).length === names.length);
  expect(await written('shared')).toEqual(names);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).toHaveLength(names.length);
});

test('a batch whose worker loses its connection before the commit is given to another', async () => {
  const fed = writer('cut', 'cut:*');
  await opened.store.cursors.open(fed);
  await publish('cut:1', 'cut:2');
  let cuts = 0;
  const cutting: Fed = {
    ...fed,
    async feed(batch, session) {
      await fed.feed(batch, session);
      cuts += 1;
      if (cuts === 1) await session.write('select pg_terminate_backend(pg_backend_pid())', []);
    },
  };
  worker(() => [cutting]);
  worker(() => [cutting]);
  await until(async () => (await written('cut')).length === 2);
  expect(await written('cut')).toEqual(['cut:1', 'cut:2']);
});

test('an event at which one fails stands in doctor, and is waited for by nobody else; corrected, all goes on in order', async () => {
  let isBroken = true;
  const failing = writer('poisoned', 'poison:*', {
    async feed(batch, session) {
      await writer('poisoned', '').feed(batch, session);
      if (isBroken && batch.events.some(({ name }) => name === 'poison:3')) throw new Error('it is bitter');
    },
  });
  const healthy = writer('healthy', 'poison:*');
  for (const fed of [failing, healthy]) await opened.store.cursors.open(fed);
  const names = Array.from({ length: 6 }, (_, nth) => `poison:${nth}`);
  await publish(...names);
  worker(() => [failing, healthy]);
  await until(async () => (await opened.store.cursors.held()).some(({ name }) => name === 'poisoned'));
  await until(async () => (await written('healthy')).length === names.length);
  // Those before it are done with, though they came together with it.
  expect(await written('poisoned')).toEqual(names.slice(0, 3));
  expect(await inspectRows(opened.database.url)).toMatchObject([
    { name: 'poisoned', ok: false, found: expect.stringContaining('it is bitter') as string },
  ]);
  expect(said).toEqual(['poisoned failed at an event, and is tried again: it is bitter']);
  isBroken = false;
  await until(async () => (await written('poisoned')).length === names.length);
  expect(await written('poisoned')).toEqual(names);
  expect(await opened.store.cursors.held()).toEqual([]);
});

test('who is removed is given nothing more, and has ended what it was at', async () => {
  let ended = 0;
  let begun = 0;
  const slow = writer('slow', 'slow:*', {
    most: 1,
    async feed() {
      begun += 1;
      await sleep(200);
      ended += 1;
    },
  });
  await opened.store.cursors.open(slow);
  await publish('slow:1', 'slow:2', 'slow:3');
  const feed = worker(() => [slow]);
  await until(async () => begun > 0);
  await feed.remove(slow);
  expect([begun, ended]).toEqual([1, 1]);
});

test('who looks for itself has had all that was published before it goes on', async () => {
  const fed = writer('itself', 'itself:*', { most: 2 });
  await opened.store.cursors.open(fed);
  const feed = worker(() => []);
  expect(await feed.catchUp(fed)).toBe(false);
  const names = Array.from({ length: 7 }, (_, nth) => `itself:${nth}`);
  await publish(...names);
  expect(await feed.catchUp(fed)).toBe(true);
  expect(await written('itself')).toEqual(names);
});
