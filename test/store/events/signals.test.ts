/** Published events: their order, who waits for them, and that no subscriber is forgotten or asked twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import type { PublishedEvent } from '../../../language/events/published-event.ts';
import type { ClaimedRun } from '../../../prisma/store/contract/event-contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { SubscriberWaker } from '../../../worker/background/subscriber-waker.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

let runs = 0;

async function newRun(project = '/project'): Promise<string> {
  runs += 1;
  const handle = `run-${runs}`;
  const row = {
    handle,
    name: 'n',
    definitionHash: 'h',
    project,
    persona: 'ada',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  };
  await opened.store.runs.create(row);
  return handle;
}

let published = 0;

/** Events of one publisher, in order. */
async function publish(...names: string[]): Promise<void> {
  const events = names.map((name) => {
    published += 1;
    return { handle: 'publisher', key: `steps.${published}`, name, data: { nth: published } };
  });
  await opened.store.signals.publishAll(events);
}

/** A run that takes events as the interpreter does: by glob, each once. */
function taker(handle: string): (glob: string) => Promise<string | null> {
  const consumed: { [glob: string]: number } = {};
  return async (glob) => {
    const event: PublishedEvent | null = await opened.store.signals.next({ handle, glob, withCause: false, consumed });
    if (event !== null) consumed[glob] = event.position;
    return event?.name ?? null;
  };
}

async function claimAll(): Promise<ClaimedRun[]> {
  const all: ClaimedRun[] = [];
  for (;;) {
    const claims = await opened.store.signals.claim(100);
    if (claims.length === 0) return all;
    all.push(...claims);
    await opened.store.signals.told(claims);
  }
}

test('a run takes matching events since it began, in order, each once', async () => {
  await publish('a:before');
  const take = taker(await newRun());
  await publish('a:1', 'b:1', 'a:2', 'a:x:y', 'a:1');
  expect(await take('a:*')).toBe('a:1');
  expect(await take('a:*')).toBe('a:2');
  // What one pattern took, another does not see; what it left, another does.
  expect(await take('**')).toBe('b:1');
  expect(await take('a:1')).toBe('a:1');
  expect(await take('a:*')).toBeNull();
  expect(await take('a:**')).toBe('a:x:y');
  expect(await take('**')).toBeNull();
  await publish('a:3');
  expect(await take('a:*')).toBe('a:3');
  await claimAll();
});

test('a later transaction that commits first hides nothing of an earlier one', async () => {
  const take = taker(await newRun());
  const slow = new Client({ connectionString: opened.database.url });
  await slow.connect();
  await slow.query('begin');
  await slow.query(`insert into published_events (handle, key, name, data) values ('slow', 'k', 'order:slow', 'null')`);
  await publish('order:quick');
  expect(await take('order:*')).toBe('order:quick');
  expect(await take('order:*')).toBeNull();
  await slow.query('commit');
  await slow.end();
  expect(await take('order:*')).toBe('order:slow');
  await claimAll();
});

test('an event of another project is not seen, one of nobody is', async () => {
  const take = taker(await newRun('/mine'));
  for (const project of ['/other', '/mine', null]) {
    await opened.store.triggers.publish({
      source: '@test',
      id: `p-${project}`,
      name: `project:${project ?? 'none'}`,
      data: null,
      project,
    });
  }
  expect(await take('project:*')).toBe('project:/mine');
  expect(await take('project:*')).toBe('project:none');
  expect(await take('project:*')).toBeNull();
  await claimAll();
});

test('a run that found nothing is claimed once an event is there, and only then', async () => {
  const handle = await newRun();
  const take = taker(handle);
  expect(await take('c:*')).toBeNull();
  await publish('d:1');
  expect(await claimAll()).toEqual([]);
  await publish('c:1', 'c:2');
  expect((await claimAll()).map((claim) => claim.handle)).toEqual([handle]);
  await publish('c:3');
  expect(await claimAll()).toEqual([]);
  expect([await take('c:*'), await take('c:*'), await take('c:*'), await take('c:*')]).toEqual([
    'c:1',
    'c:2',
    'c:3',
    null,
  ]);
  await publish('c:4');
  expect((await claimAll()).map((claim) => claim.handle)).toEqual([handle]);
});

test('who subscribes while an event is being found unwanted finds it by itself', async () => {
  const take = taker(await newRun());
  await publish('close:1');
  const worker = new Client({ connectionString: opened.database.url });
  await worker.connect();
  await worker.query('begin');
  const looked = await worker.query<{ handles: string[] }>('select handles from claim_waiting(1000, 10)');
  expect(looked.rows).toEqual([{ handles: [] }]);
  const taken = take('close:*');
  const first = await Promise.race([taken, sleep(300, 'still waiting')]);
  await worker.query('commit');
  await worker.end();
  expect([first, await taken]).toEqual(['still waiting', 'close:1']);
  expect(await claimAll()).toEqual([]);
});

test('a claim whose holder dies is given to another', async () => {
  const handle = await newRun();
  expect(await taker(handle)('lost:*')).toBeNull();
  await publish('lost:1');
  const [claim] = await opened.store.signals.claim(10);
  expect(claim?.handle).toBe(handle);
  expect(await opened.store.signals.claim(10)).toEqual([]);
  const client = new Client({ connectionString: opened.database.url });
  await client.connect();
  await client.query(`update event_subscriptions set claimed_at = now() - interval '1 minute' where handle = $1`, [
    handle,
  ]);
  await client.end();
  expect((await claimAll()).map((again) => again.handle)).toEqual([handle]);
});

test('a run that looks again while it is being told keeps its new subscription', async () => {
  const handle = await newRun();
  const take = taker(handle);
  await take('again:*');
  await publish('again:1');
  const claims = await opened.store.signals.claim(10);
  expect(await take('again:*')).toBe('again:1');
  expect(await take('again:*')).toBeNull();
  await opened.store.signals.told(claims);
  await publish('again:2');
  expect((await claimAll()).map((claim) => claim.handle)).toEqual([handle]);
});

/** Two lines of one run that wait for the same name, as two joins of one run do: each remembers by itself what it had. */
async function newLine(handle: string): Promise<(had?: number) => Promise<PublishedEvent | null>> {
  const own = { handle, glob: `sentinel:${handle}:status`, withCause: false, withEarlier: true };
  const line = (had = 0): Promise<PublishedEvent | null> =>
    opened.store.signals.next({ ...own, consumed: { [own.glob]: had } });
  expect(await line()).toBeNull();
  return line;
}

test('a line of a run that has had an event already leaves its wake-up to those that have not', async () => {
  const handle = await newRun();
  const line = await newLine(handle);
  await publish(`sentinel:${handle}:status`);
  const seen = await line();
  expect(await line(seen?.position)).toBeNull();
  expect((await claimAll()).map((claim) => claim.handle)).toEqual([handle]);
});

test('a line of a run that finds an event in the moment it subscribes leaves the others subscribed', async () => {
  const handle = await newRun();
  const line = await newLine(handle);
  const other = new Client({ connectionString: opened.database.url });
  await other.connect();
  await other.query('begin');
  await other.query('select 1 from event_subscriptions where handle = $1 for update', [handle]);
  const found = line();
  expect(await Promise.race([found, sleep(300, 'subscribing')])).toBe('subscribing');
  await publish(`sentinel:${handle}:status`);
  await other.query('commit');
  await other.end();
  expect((await found)?.name).toBe(`sentinel:${handle}:status`);
  expect((await claimAll()).map((claim) => claim.handle)).toEqual([handle]);
});

test('ten thousand subscribers of one event are woken once each, by several wakers that share the work', async () => {
  const count = 10_000;
  const client = new Client({ connectionString: opened.database.url });
  await client.connect();
  await client.query(
    `insert into event_subscriptions (handle, glob, name, pattern, "after")
     select 'crowd-' || i, 'crowd:*', case when i % 2 = 0 then 'crowd:now' end, case when i % 2 = 1 then '^crowd:[^:]*$' end, latest_event_position()
     from generate_series(1, ${count}) i`,
  );
  const woken = new Map<string, number>();
  // Each with connections of its own, as in a process of its own.
  const stores = Array.from({ length: 4 }, () => openStore({ url: opened.database.url }));
  const wakers = stores.map(
    ({ signals }) =>
      new SubscriberWaker({
        signals,
        wake: async (handle) => {
          if (handle.startsWith('crowd-')) woken.set(handle, (woken.get(handle) ?? 0) + 1);
          await new Promise((resolve) => void setTimeout(resolve, 2));
        },
      }),
  );
  await publish('crowd:now');
  const deadline = Date.now() + 60_000;
  while (woken.size < count && Date.now() < deadline) await new Promise((resolve) => void setTimeout(resolve, 20));
  await Promise.all(wakers.map((waker) => waker.close()));
  await Promise.all(stores.map((store) => store.close()));
  const { rows } = await client.query<{ left: string }>(
    `select count(*) as left from event_subscriptions where handle like 'crowd-%'`,
  );
  await client.end();
  expect(woken.size).toBe(count);
  expect([...woken.values()].every((times) => times === 1)).toBe(true);
  expect(rows[0]?.left).toBe('0');
  // A quarter each, more or less: the last batches go to whoever comes first.
  for (const waker of wakers) expect(Math.abs(waker.woken / count - 1 / wakers.length)).toBeLessThan(0.1);
});
