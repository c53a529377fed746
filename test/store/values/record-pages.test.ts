/** Pages over records that are being written, versions of records that several write, and indexes made meanwhile. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import {
  CursorRefused,
  type RecordIndex,
  type RecordPage,
  type RecordPageQuery,
} from '../../../prisma/store/contract/record-contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { reading, useStore } from '../harness/opened.ts';

const opened = useStore();

const pageOf = (query: RecordPageQuery): Promise<RecordPage> =>
  reading(opened.store, (session) => opened.store.records.page(session, query));

/** Writes them as one transaction, which is committed when `commit` is called. */
async function begun(collection: string, ids: readonly string[]): Promise<{ commit(): Promise<void> }> {
  const session = opened.store.session();
  for (const id of ids) await opened.store.records.create(session, collection, id, { id });
  return { commit: () => session.commit({ handle: collection, key: ids.join(), result: null, events: [] }) };
}

const write = async (collection: string, ids: readonly string[]): Promise<void> =>
  (await begun(collection, ids)).commit();

const idsOf = ({ records }: RecordPage): string[] => records.map(({ id }) => id);

describe('a cursor', () => {
  test('shows what is committed late, wherever it stands', async () => {
    const collection = 'late';
    const late = await begun(collection, ['a', 'b', 'c']);
    await write(collection, ['d', 'e']);
    const first = await pageOf({ collection, limit: 10, cursor: null });
    expect({ ids: idsOf(first), more: first.more }).toEqual({ ids: ['d', 'e'], more: false });
    await late.commit();
    await write(collection, ['f']);
    // What came late takes two pages, and what was shown stays so.
    const second = await pageOf({ collection, limit: 2, cursor: first.cursor });
    expect({ ids: idsOf(second), more: second.more }).toEqual({ ids: ['a', 'b'], more: true });
    const later = await begun(collection, ['g']);
    const third = await pageOf({ collection, limit: 2, cursor: second.cursor });
    expect({ ids: idsOf(third), more: third.more }).toEqual({ ids: ['c', 'f'], more: false });
    await later.commit();
    const fourth = await pageOf({ collection, limit: 2, cursor: third.cursor });
    expect(idsOf(fourth)).toEqual(['g']);
    const none = await pageOf({ collection, limit: 2, cursor: fourth.cursor });
    expect({ ids: idsOf(none), more: none.more }).toEqual({ ids: [], more: false });
  });

  test('goes on within the transaction that writes', async () => {
    const { store } = opened;
    const collection = 'own';
    const session = store.session();
    for (const id of ['a', 'b', 'c']) await store.records.create(session, collection, id, {});
    const first = await store.records.page(session, { collection, limit: 2, cursor: null });
    await store.records.create(session, collection, 'd', {});
    const second = await store.records.page(session, { collection, limit: 5, cursor: first.cursor });
    expect([idsOf(first), idsOf(second)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    await session.commit({ handle: collection, key: 'k', result: null, events: [] });
    expect(idsOf(await pageOf({ collection, limit: 5, cursor: first.cursor }))).toEqual(['c', 'd']);
    expect(idsOf(await pageOf({ collection, limit: 5, cursor: second.cursor }))).toEqual([]);
  });

  test('follows the order of transactions as numbers', async () => {
    const collection = 'counting';
    for (const id of ['100', '9', '10']) {
      await write(collection, [id]);
      await opened.database.query(
        `update records set born = '${id}' where collection = '${collection}' and id = '${id}'`,
      );
    }
    const first = await pageOf({ collection, limit: 2, cursor: null });
    const second = await pageOf({ collection, limit: 2, cursor: first.cursor });
    expect([idsOf(first), idsOf(second)]).toEqual([['9', '10'], ['100']]);
  });

  test('shows each record once while six write', async () => {
    const collection = 'busy';
    const writers = 6;
    const transactions = 25;
    let isWriting = true;
    const writing = Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let at = 0; at < transactions; at += 1) {
          const one = await begun(
            collection,
            [0, 1, 2].map((n) => `${writer}-${at}-${n}`),
          );
          await new Promise((resolve) => setTimeout(resolve, (writer * 7 + at * 3) % 11));
          await one.commit();
        }
      }),
    ).finally(() => (isWriting = false));
    const seen: string[] = [];
    const before: string[] = [];
    for (let cursor: string | null = null, isLast = false; !isLast;) {
      isLast = !isWriting;
      for (let more = true; more;) {
        const page = await pageOf({ collection, limit: 4, cursor });
        seen.push(...idsOf(page));
        ({ cursor, more } = page);
      }
      if (isWriting) before.push(...seen.slice(before.length));
    }
    await writing;
    const all = writers * transactions * 3;
    expect({ seen: seen.length, different: new Set(seen).size }).toEqual({ seen: all, different: all });
    // There was something to be read while there was something to be written.
    expect(before.length).toBeGreaterThan(10);
  });

  test('with an order shows each that was there before, once, while others come', async () => {
    const { store } = opened;
    const collection = 'ordered';
    const session = store.session();
    for (let n = 0; n < 60; n += 1) await store.records.create(session, collection, `r${n}`, { size: n % 7 });
    await session.commit({ handle: collection, key: 'k', result: null, events: [] });
    const seen: string[] = [];
    for (let cursor: string | null = null, more = true, n = 0; more; n += 1) {
      const page = await pageOf({ collection, orderBy: [{ field: 'size', direction: 'desc' }], limit: 9, cursor });
      seen.push(...idsOf(page));
      ({ cursor, more } = page);
      const other = store.session();
      await store.records.create(other, collection, `new${n}`, { size: n % 2 === 0 ? 0 : 6 });
      await other.commit({ handle: collection, key: `k${n}`, result: null, events: [] });
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => id.startsWith('r')).toSorted()).toEqual(
      Array.from({ length: 60 }, (_, n) => `r${n}`).toSorted(),
    );
  });

  test('of another list, or of nobody, is refused before the store is asked', async () => {
    const collection = 'refused';
    await write(collection, ['a', 'b']);
    const { cursor } = await pageOf({ collection, limit: 1, cursor: null });
    const ordered = await pageOf({ collection, limit: 1, cursor: null, orderBy: [{ field: 'a', direction: 'asc' }] });
    const said = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as { shown: JsonObject[] };
    const changed = (shown: JsonObject): string =>
      Buffer.from(JSON.stringify({ ...said, shown: [{ ...said.shown[0], ...shown }] })).toString('base64url');
    for (const query of [
      { cursor, collection: 'other' },
      { cursor, filter: { a: 1 } },
      { cursor: ordered.cursor },
      { cursor, orderBy: [{ field: 'a', direction: 'asc' as const }] },
      { cursor: '%' },
      { cursor: 'bnVsbA' },
      { cursor: changed({ snapshot: '9:3:' }) },
      { cursor: changed({ snapshot: '3:9:8,7' }) },
      { cursor: changed({ snapshot: '3:9:9' }) },
      { cursor: changed({ born: '-1' }) },
      { cursor: changed({ born: "1'; drop table records; --" }) },
    ])
      await expect(pageOf({ collection, limit: 1, ...query }), JSON.stringify(query)).rejects.toThrow(CursorRefused);
    expect(idsOf(await pageOf({ collection, limit: 1, cursor: changed({}) }))).toEqual(['b']);
  });
});

describe('a version', () => {
  test('lets eight writers lose nothing', async () => {
    const { store } = opened;
    const collection = 'counted';
    await write(collection, ['sum']);
    let conflicts = 0;
    const add = async (writer: number, n: number): Promise<void> => {
      for (;;) {
        const [before] = await reading(store, (session) =>
          store.records.list(session, { collection, filter: { id: 'sum' } }),
        );
        if (before === undefined) throw new Error('the record is gone');
        const session = store.session();
        const total = Number(before.data['total'] ?? 0) + 1;
        const changed = await store.records.update(
          session,
          { collection, filter: { id: 'sum' } },
          { total },
          before.version,
        );
        if (changed.length === 1)
          return session.commit({ handle: collection, key: `${writer}-${n}`, result: null, events: [] });
        await session.close();
        conflicts += 1;
      }
    };
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; n < 20; n += 1) await add(writer, n);
      }),
    );
    const [sum] = await reading(store, (session) => store.records.list(session, { collection, filter: { id: 'sum' } }));
    expect(sum).toMatchObject({ data: { total: 160 }, version: 161 });
    expect(conflicts).toBeGreaterThan(0);
  });

  test('of a record that was changed deletes nothing', async () => {
    const { store } = opened;
    const collection = 'deleted';
    await write(collection, ['a']);
    const session = store.session();
    const chosen = { collection, filter: { id: 'a' } };
    expect(await store.records.update(session, chosen, { n: 1 })).toMatchObject([{ version: 2 }]);
    expect(await store.records.delete(session, chosen, 1)).toBe(0);
    expect(await store.records.delete(session, chosen, 2)).toBe(1);
    await session.close();
  });
});

const wanted = (collection: string): RecordIndex[] => [
  {
    collection,
    fields: [
      { field: 'status', direction: 'asc' },
      { field: "in.it's", direction: 'desc' },
    ],
  },
];

describe('indexes', () => {
  test('are made once, by whichever process comes first, while records are written', async () => {
    const collection = `in'dexed`;
    await write(collection, ['a', 'b']);
    const stores = [1, 2, 3].map(() => openStore({ url: opened.database.url, poolSize: 2 }));
    try {
      expect(await opened.store.records.indexStates(wanted(collection))).toMatchObject([{ state: 'missing' }]);
      const made = await Promise.all(stores.map(({ records }) => records.makeIndexes(wanted(collection))));
      expect(made.flat()).toMatchObject([{ collection, failure: null }]);
      expect(await opened.store.records.indexStates(wanted(collection))).toMatchObject([{ state: 'ready' }]);
      expect(await opened.store.records.makeIndexes(wanted(collection))).toEqual([]);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });

  test('that were not finished are made again', async () => {
    const collection = 'halfway';
    const [state] = await opened.store.records.indexStates(wanted(collection));
    const name = state?.name ?? '';
    await opened.database.query(`create index ${name} on records (id)`);
    expect(await opened.store.records.indexStates(wanted(collection))).toMatchObject([{ state: 'broken' }]);
    expect(await opened.store.records.makeIndexes(wanted(collection))).toMatchObject([{ name, failure: null }]);
    const [row] = await opened.database.query<{ indexdef: string }>(
      `select indexdef from pg_indexes where indexname = '${name}'`,
    );
    expect(row?.indexdef).toContain('record_key');
  });

  test('hold the longest texts, whatever is in them', async () => {
    const collection = 'long';
    const fields = ['a', 'b', 'c'].map((field) => ({ field, direction: 'desc' as const }));
    expect(await opened.store.records.makeIndexes([{ collection, fields }])).toMatchObject([{ failure: null }]);
    const session = opened.store.session();
    const text = '\u{1F600}'.repeat(5_000);
    await opened.store.records.create(session, collection, 'r', { a: text, b: text, c: [text] });
    await session.commit({ handle: collection, key: 'k', result: null, events: [] });
    expect(
      await reading(opened.store, (one) => opened.store.records.list(one, { collection, filter: { a: text } })),
    ).toHaveLength(1);
  });

  test('are asked for over the connection that a list has, so that no list waits for another', async () => {
    const store = openStore({ url: opened.database.url, poolSize: 2 });
    try {
      const collection = 'narrow';
      const sessions = [store.session(), store.session()];
      for (const [n, session] of sessions.entries()) await store.records.create(session, collection, `${n}`, { n });
      // Each connection of the store has a transaction by now.
      const found = await Promise.all(
        sessions.map(async (session, n) => (await store.records.list(session, { collection, filter: { n } })).length),
      );
      await Promise.all(sessions.map((session) => session.close()));
      expect(found).toEqual([1, 1]);
    } finally {
      await store.close();
    }
  });

  test('are what a filtered, ordered page is read from', async () => {
    const collection = 'planned';
    const fields = [
      { field: 'status', direction: 'asc' as const },
      { field: 'size', direction: 'desc' as const },
    ];
    await opened.database.query(
      `insert into records (collection, id, data) select '${collection}', n::text, jsonb_build_object('status', case when n % 3 = 0 then 'open' else 'done' end, 'size', n % 1000) from generate_series(1, 30000) n`,
    );
    await opened.store.records.makeIndexes([{ collection, fields }]);
    const store = openStore({ url: opened.database.url, poolSize: 1 });
    try {
      const indexed = await store.records.indexStates([{ collection, fields }]);
      const name = indexed[0]?.name ?? '';
      const query = {
        collection,
        filter: { status: 'open', size: { $gte: 500 } },
        orderBy: [{ field: 'size', direction: 'desc' as const }],
      };
      const used = async (): Promise<number> => {
        await opened.database.query('select pg_stat_clear_snapshot(), pg_stat_force_next_flush()');
        const [row] = await opened.database.query<{ n: string }>(
          `select idx_tup_read::text as n from pg_stat_user_indexes where indexrelname = '${name}'`,
        );
        return Number(row?.n);
      };
      const before = await used();
      const session = store.session();
      const first = await store.records.page(session, { ...query, limit: 50, cursor: null });
      const second = await store.records.page(session, { ...query, limit: 50, cursor: first.cursor });
      await session.read('select pg_stat_force_next_flush()', []);
      await session.close();
      expect(second.records[0]?.data).toMatchObject({ status: 'open', size: expect.any(Number) as number });
      await expect.poll(async () => (await used()) - before).toBeGreaterThanOrEqual(100);
      // Some entries more than records that were shown, and not all of the collection.
      expect((await used()) - before).toBeLessThan(1_000);
    } finally {
      await store.close();
    }
  });
});
