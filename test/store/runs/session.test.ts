import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { canonicalText } from '../../../language/canonical.ts';
import { JournalConflict, PlaceTaken } from '../../../prisma/store/contract/journal-conflict.ts';
import { isUnavailable, openStore } from '../../../prisma/store/open-store.ts';
import { finished, reading, started, useStore, warning } from '../harness/opened.ts';

const opened = useStore();

const records = (collection: string) =>
  reading(opened.store, (session) => opened.store.records.list(session, { collection }));

describe('a session', () => {
  test('that only read commits journal, events and run in one go', async () => {
    const { store } = opened;
    const session = store.session();
    expect(await session.read('select 1 as one', [])).toEqual([{ one: 1 }]);
    await session.commit({
      handle: 's1',
      key: 'segment@1',
      result: { position: [1] },
      events: [started(1), warning(2), finished(3)],
    });
    await session.close();
    expect(await store.journal.find('s1', 'segment@1')).toEqual({ position: [1] });
    expect((await store.events.after('s1', -1)).map((event) => event.seq)).toEqual([1, 2, 3]);
    expect(await store.runs.find('s1')).toMatchObject({
      status: 'completed',
      outcome: 'completed',
      iterations: 1,
      outputs: { answer: 42 },
    });
  });

  test('reads its own writes, and nobody else does before the commit', async () => {
    const { store } = opened;
    const session = store.session();
    await store.records.create(session, 'own', 'a', { n: 1 });
    expect(await store.records.list(session, { collection: 'own' })).toHaveLength(1);
    expect(await records('own')).toEqual([]);
    await session.commit({ handle: 's2', key: 'k', result: null, events: [] });
    expect(await records('own')).toHaveLength(1);
    await session.close();
    await session.close();
    expect(await records('own')).toHaveLength(1);
  });

  test('that is closed keeps nothing', async () => {
    const { store } = opened;
    const session = store.session();
    await store.records.create(session, 'closed', 'a', {});
    await session.close();
    expect(await records('closed')).toEqual([]);
    await expect(session.write('select 1', [])).rejects.toThrow('already committed or closed');
    await expect(session.commit({ handle: 's3', key: 'k', result: 1, events: [] })).rejects.toThrow(
      'already committed or closed',
    );
    expect(await store.journal.find('s3', 'k')).toBeNull();
  });
});

const row = (collection: string, n: number) => ({
  collection,
  id: `r${n}`,
  data: { n, text: 'a\0b \ud800', 'k"\n': [null, { deep: true }] },
  createdAt: 1_700_000_000_123 + n,
  version: 1,
});

describe('rows that go out later', () => {
  test('are written by the commit, in their order and as they were', async () => {
    const { store } = opened;
    const session = store.session();
    const rows = Array.from({ length: 40 }, (_, n) => row('later', n));
    for (const one of rows) store.records.add(session, one);
    expect(await records('later')).toEqual([]);
    await session.commit({ handle: 'later', key: 'k', result: 1, events: [] });
    expect(await records('later')).toEqual(rows);
  });

  test('are seen by a read of the same session, and by nobody else', async () => {
    const { store } = opened;
    const session = store.session();
    store.records.add(session, row('seen', 1));
    expect(await store.records.list(session, { collection: 'seen' })).toEqual([row('seen', 1)]);
    store.records.add(session, row('seen', 2));
    expect(await records('seen')).toEqual([]);
    await session.commit({ handle: 'seen', key: 'k', result: 1, events: [] });
    expect(await records('seen')).toEqual([row('seen', 1), row('seen', 2)]);
  });

  test('are not kept by a session that is closed, or that meets the journal row of another attempt', async () => {
    const { store } = opened;
    const closed = store.session();
    store.records.add(closed, row('dropped', 1));
    await closed.close();
    await store.session().commit({ handle: 'dropped', key: 'k', result: 1, events: [] });
    const late = store.session();
    store.records.add(late, row('dropped', 2));
    await expect(late.commit({ handle: 'dropped', key: 'k', result: 2, events: [] })).rejects.toThrow(JournalConflict);
    expect(await records('dropped')).toEqual([]);
  });
});

describe('attempts at the same step', () => {
  test.each([
    ['reading', false],
    ['writing', true],
  ])('a second one, %s, rejects with JournalConflict and keeps nothing', async (_what, writes) => {
    const { store } = opened;
    const handle = `conflict-${writes}`;
    await store.session().commit({ handle, key: 'k', result: 'first', events: [warning(1, 'first')] });
    const second = store.session();
    if (writes) await store.records.create(second, handle, 'a', {});
    await expect(
      second.commit({ handle, key: 'k', result: 'second', events: [warning(1, 'second'), warning(2)], forget: ['k'] }),
    ).rejects.toThrow(JournalConflict);
    expect(await store.journal.find(handle, 'k')).toBe('first');
    expect(await store.events.after(handle, -1)).toEqual([warning(1, 'first')]);
    expect(await records(handle)).toEqual([]);
    await second.close();
  });

  test('of two segments with the same numbers for their events the second keeps nothing, and may take the next place', async () => {
    const { store } = opened;
    const handle = 'places';
    await store.session().commit({ handle, key: 'a', result: 1, events: [warning(1025)], seq: 1024, place: 1024 });
    await store
      .session()
      .commit({ handle: 'other-run', key: 'b', result: 1, events: [warning(1025)], seq: 1024, place: 1024 });
    const second = store.session();
    await store.records.create(second, handle, 'a', {});
    await expect(
      second.commit({ handle, key: 'b', result: 2, events: [warning(1025, 'over it')], seq: 1024, place: 1024 }),
    ).rejects.toThrow(PlaceTaken);
    expect(await records(handle)).toEqual([]);
    await store.session().commit({ handle, key: 'b', result: 2, events: [warning(2049)], seq: 2048, place: 2048 });
    expect(await store.events.after(handle, -1)).toEqual([warning(1025), warning(2049)]);
    await expect(
      store.session().commit({ handle, key: 'b', result: 3, events: [], seq: 3072, place: 3072 }),
    ).rejects.toThrow(JournalConflict);
    expect(await store.journal.isBeyond(handle, 2048)).toBe(true);
    expect(await store.journal.isBeyond(handle, 2 ** 40)).toBe(false);
  });

  test('of rows with one beginning the one that is not forgotten is the latest', async () => {
    const { store } = opened;
    const handle = 'latest';
    expect(await store.journal.latest(handle, 'agent k.')).toBeNull();
    await store.session().commit({ handle, key: 'agent k.1', result: { turn: 1 }, events: [] });
    await store.session().commit({ handle, key: 'agent k.2', result: { turn: 2 }, events: [], forget: ['agent k.1'] });
    await store.session().commit({ handle, key: 'agent kk.3', result: { turn: 3 }, events: [] });
    expect(await store.journal.latest(handle, 'agent k.')).toEqual({ key: 'agent k.2', result: { turn: 2 } });
  });

  test('a word that is noted twice is noted', async () => {
    const { store } = opened;
    expect(await store.journal.find('noted', 'hand back k')).toBeNull();
    for (let times = 0; times < 2; times += 1) await store.journal.note('noted', 'hand back k');
    expect(await store.journal.find('noted', 'hand back k')).toBe(true);
  });

  test('of two at once exactly one wins', async () => {
    const { store } = opened;
    const attempts = await Promise.allSettled(
      [1, 2].map(async (attempt) => {
        const session = store.session();
        await store.records.create(session, 'race', `from-${attempt}`, { attempt });
        await session.commit({ handle: 'race', key: 'k', result: attempt, events: [warning(1)] });
      }),
    );
    expect(attempts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await records('race')).toHaveLength(1);
  });
});

describe('the transaction of a session', () => {
  test('forgets journal rows of its own run only', async () => {
    const { store } = opened;
    for (const handle of ['f1', 'f2']) await store.session().commit({ handle, key: 'old', result: 1, events: [] });
    await store.session().commit({ handle: 'f1', key: 'new', result: 2, events: [], forget: ['old', 'never'] });
    expect(await store.journal.find('f1', 'old')).toBeNull();
    expect(await store.journal.find('f1', 'new')).toBe(2);
    expect(await store.journal.find('f2', 'old')).toBe(1);
  });

  test('forgets rows whatever they hold, and none that last', async () => {
    const { store } = opened;
    const handle = 'lasting';
    const said = { printed: 'a\0b \ud800', replies: { k: 'a\0b' } };
    await store.session().commit({ handle, key: 'first', result: said, events: [] });
    await store.session().commit({ handle, key: 'second', result: said, events: [], lasts: true });
    const forget = ['first', 'second'];
    await store.session().commit({ handle, key: 'third', result: said, events: [], forget });
    expect(await store.journal.find(handle, 'first')).toBeNull();
    expect(await store.journal.find(handle, 'second')).toEqual(said);
  });

  test('keeps nothing after a statement failed, even if the caller goes on', async () => {
    const { store } = opened;
    const session = store.session();
    await store.records.create(session, 'broken', 'a', {});
    await expect(session.write('select 1 / $1::int', [0])).rejects.toThrow('division by zero');
    await expect(session.read('select 1', [])).rejects.toThrow('an earlier statement of this session failed');
    await expect(session.commit({ handle: 's4', key: 'k', result: 1, events: [] })).rejects.toThrow(
      'an earlier statement',
    );
    await session.close();
    expect(await records('broken')).toEqual([]);
    expect(await store.journal.find('s4', 'k')).toBeNull();
  });

  test('takes statements of parallel branches one after another', async () => {
    const { store } = opened;
    const session = store.session();
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.records.create(session, 'many', `r${n}`, { n })),
    );
    await session.commit({ handle: 's5', key: 'k', result: 1, events: [] });
    expect(created.map(({ data }) => data['n'])).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(await records('many')).toHaveLength(20);
  });

  test('gives its connection back, whatever happens', async () => {
    const { store } = opened;
    for (let n = 0; n < 30; n += 1) {
      const session = store.session();
      await store.records.create(session, 'leak', `r${n}`, {});
      if (n % 3 === 0) await session.write('boom', []).catch(() => undefined);
      if (n % 3 === 1)
        await session.commit({ handle: 'leak', key: 'same', result: n, events: [] }).catch(() => undefined);
      await session.close();
    }
    await store.ping();
  });
});

test('journal rows are kept until a day after their run has ended', async () => {
  const { store } = opened;
  const hour = 3_600_000;
  for (const [handle, ago] of [
    ['long-ended', 25 * hour],
    ['just-ended', 23 * hour],
    ['goes-on', null],
  ] as const) {
    const end = ago === null ? [] : [{ ...finished(2), at: Date.now() - ago }];
    await store.session().commit({ handle, key: 'k', result: handle, events: [started(1), ...end] });
  }
  const result = 'a\0b';
  const ended = { handle: 'long-ended', result: { result }, events: [] };
  await store.session().commit({ ...ended, key: 'segment s' });
  await store.session().commit({ ...ended, key: 'segment t', lasts: true });
  const person = { handle: '@emit', events: [] };
  for (const [key, ago] of [
    ['called long ago', 25 * hour],
    ['called just now', hour],
  ] as const)
    await store.session().commit({ ...person, key, result: { at: Date.now() - ago, value: result } });
  await store.journal.sweep();
  const calls = ['called long ago', 'called just now'].map((key) => store.journal.find('@emit', key));
  expect(await Promise.all(calls)).toEqual([null, { at: expect.any(Number) as number, value: result }]);
  const kept = await Promise.all(
    ['long-ended', 'just-ended', 'goes-on'].map((handle) => store.journal.find(handle, 'k')),
  );
  expect(kept).toEqual([null, 'just-ended', 'goes-on']);
  const rows = ['segment s', 'segment t'].map((key) => store.journal.find('long-ended', key));
  expect(await Promise.all(rows)).toEqual([null, { result }]);
});

describe('what outlives a session, and what ends it', () => {
  test('leaves a fence where it forgot: an attempt of then that comes late keeps nothing', async () => {
    const { store } = opened;
    await store.session().commit({ handle: 'fence', key: 'old', result: 1, events: [warning(1)] });
    await store.session().commit({ handle: 'fence', key: 'new', result: 2, events: [], forget: ['old'] });
    const late = store.session();
    await store.records.create(late, 'fence', 'late', {});
    await expect(late.commit({ handle: 'fence', key: 'old', result: 1, events: [] })).rejects.toThrow(JournalConflict);
    expect(await records('fence')).toEqual([]);
  });

  test('holds its locks for no host that vanished, and waits for no lock without end', async () => {
    const { store } = opened;
    const session = store.session();
    await store.records.create(session, 'bounded', 'a', {});
    const [bounds] = await session.read(
      "select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('lock_timeout') as lock",
      [],
    );
    expect(bounds).toEqual({ idle: '15s', lock: '30s' });
    await session.close();
    const reader = await reading(store, (later) => later.read("select current_setting('lock_timeout') as lock", []));
    expect(reader).toEqual([{ lock: '0' }]);
  });

  test('that was ended for its idleness, or waited too long for a lock, may be tried again', async () => {
    const { store } = opened;
    const idle = store.session();
    await store.records.create(idle, 'slow', 'idle', {});
    await idle.write("set local idle_in_transaction_session_timeout = '20ms'", []);
    await sleep(200);
    await expect(idle.commit({ handle: 'slow', key: 'idle', result: 1, events: [] })).rejects.toSatisfy(isUnavailable);
    await idle.close();
    const holder = store.session();
    await holder.write('lock table records in exclusive mode', []);
    const waiter = store.session();
    await waiter.write("set local lock_timeout = '20ms'", []);
    await expect(store.records.create(waiter, 'slow', 'waits', {})).rejects.toSatisfy(isUnavailable);
    await Promise.all([holder.close(), waiter.close()]);
    expect(await records('slow')).toEqual([]);
  });
});

test('closing the store undoes the sessions that are still open', async () => {
  const store = openStore({ url: opened.database.url });
  await store.records.create(store.session(), 'abandoned', 'a', {});
  await store.close();
  expect(await records('abandoned')).toEqual([]);
});

describe('what a session holds', () => {
  test.each([
    ['NUL', { text: 'a\0b', 'k\0': '\0' }],
    ['half a surrogate pair', { text: '\ud800 \udfff' }],
    ['the escape itself', { text: '\uFDD0 \uFDD00000 \\u0000 \\\\u0000 \uFDD0\0' }],
    [
      'hostile keys',
      JSON.parse(
        '{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}, "": 1, "$x": 2, "a.b": 3}',
      ) as Record<string, never>,
    ],
    ['numbers', { big: 1.7976931348623157e308, small: 5e-324, whole: 9007199254740991, minus: -0.1 }],
    ['5 MB', { text: 'x"\\\n'.repeat(1_250_000) }],
  ])('comes back as it was: %s', async (name, data) => {
    const { store } = opened;
    const session = store.session();
    await store.records.create(session, 'exact', name, data);
    await store.signals.publish(session, { handle: 'exact', key: name, name: 'e\0', data });
    await session.commit({
      handle: name,
      key: name,
      result: data,
      events: [
        { ...started(1), inputs: data },
        { ...finished(2), outputs: data },
      ],
    });
    // As text, because matchers look past a key named __proto__.
    expect(JSON.stringify(await store.journal.find(name, name))).toBe(JSON.stringify(data));
    const [record] = await reading(store, (reader) =>
      store.records.list(reader, { collection: 'exact', filter: { id: name } }),
    );
    expect(canonicalText(record?.data)).toBe(canonicalText(data));
    expect(JSON.stringify((await store.runs.find(name))?.outputs)).toBe(JSON.stringify(data));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
