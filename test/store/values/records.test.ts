import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { DataRecord, RecordQuery } from '../../../prisma/store/contract/record-contract.ts';
import { reading, useStore } from '../harness/opened.ts';

const opened = useStore();

const PEOPLE: Record<string, JsonObject> = {
  ada: { name: 'Ada', age: 36, tags: ['math', 'code'], address: { city: 'London' }, active: true },
  alan: { name: 'Alan', age: 41, tags: ['code'], address: { city: 'London', zip: null } },
  grace: { name: 'Grace', age: 9, tags: [], address: { city: 'New York' }, active: false },
  odd: { name: 10, age: '40', tags: 'code', "it's": '"; drop table records; --', __proto__x: 1, 'nul\0': '\0' },
};

beforeAll(async () => {
  const session = opened.store.session();
  for (const [id, data] of Object.entries(PEOPLE)) await opened.store.records.create(session, 'people', id, data);
  await opened.store.records.create(session, 'other', 'ada', {});
  await session.commit({ handle: 'people', key: 'k', result: null, events: [] });
});

function list(query: Partial<RecordQuery>): Promise<DataRecord[]> {
  return reading(opened.store, (session) => opened.store.records.list(session, { collection: 'people', ...query }));
}

async function names(query: Partial<RecordQuery>): Promise<string[]> {
  return (await list(query)).map(({ id }) => id);
}

describe('a record query', () => {
  test.each<[JsonObject, string[]]>([
    [{}, ['ada', 'alan', 'grace', 'odd']],
    [{ name: 'Ada' }, ['ada']],
    [{ age: 36 }, ['ada']],
    [{ age: '36' }, []],
    [{ age: { $eq: 41.0 } }, ['alan']],
    [{ age: { $ne: 36 } }, ['alan', 'grace', 'odd']],
    [{ age: { $gt: 10 } }, ['ada', 'alan']],
    [{ age: { $gte: 9, $lt: 41 } }, ['ada', 'grace']],
    [{ age: { $lte: '5' } }, ['odd']],
    [{ name: { $gt: 'Adb' } }, ['alan', 'grace']],
    [{ name: { $in: ['Ada', 10, null] } }, ['ada', 'odd']],
    [{ name: { $in: [] } }, []],
    [{ name: { $contains: 'la' } }, ['alan']],
    [{ name: { $contains: '%' } }, []],
    [{ tags: { $contains: 'code' } }, ['ada', 'alan', 'odd']],
    [{ tags: [] }, ['grace']],
    [{ address: { $contains: { city: 'London' } } }, ['ada', 'alan']],
    [{ address: { city: 'New York' } }, ['grace']],
    [{ 'address.city': 'London', active: true }, ['ada']],
    [{ 'address.zip': null }, ['ada', 'alan', 'grace', 'odd']],
    [{ active: { $ne: null } }, ['ada', 'grace']],
    [{ 'tags.0': 'math' }, ['ada']],
    [{ id: 'grace' }, ['grace']],
    [{ id: { $in: ['ada', 'odd'] } }, ['ada', 'odd']],
    [{ createdAt: { $gt: 1_600_000_000_000 } }, ['ada', 'alan', 'grace', 'odd']],
    [{ "it's": { $contains: '"; drop' } }, ['odd']],
    [{ "x'; drop table records; --": null }, ['ada', 'alan', 'grace', 'odd']],
    [{ 'nul\0': '\0' }, ['odd']],
    [{ 'nul\0': { $contains: '\0' } }, ['odd']],
    [{ __proto__x: 1 }, ['odd']],
    [JSON.parse('{"__proto__": null}') as JsonObject, ['ada', 'alan', 'grace', 'odd']],
    [{ constructor: { $ne: null } }, []],
  ])('%j', async (filter, ids) => {
    expect((await list({ filter })).map(({ id }) => id)).toEqual(ids);
  });

  test('orders numbers as numbers, missing ones last, and pages', async () => {
    expect(await names({ filter: { age: { $gt: 0 } }, orderBy: [{ field: 'age', direction: 'asc' }] })).toEqual([
      'grace',
      'ada',
      'alan',
    ]);
    expect(
      await names({
        orderBy: [
          { field: 'address.city', direction: 'desc' },
          { field: 'age', direction: 'desc' },
        ],
      }),
    ).toEqual(['grace', 'alan', 'ada', 'odd']);
    expect(await names({ limit: 2, offset: 1 })).toEqual(['alan', 'grace']);
    expect(await names({ limit: 0 })).toEqual([]);
  });

  test.each<[Partial<RecordQuery>, string]>([
    [{ filter: { age: { $near: 1 } } }, 'filter "age": unknown operator "$near"; use one of $eq, $ne'],
    [{ filter: { age: { $gt: 1, typo: 2 } } }, 'filter "age": unknown operator "typo"'],
    [{ filter: { age: { $in: 1 } } }, '$in needs a list'],
    [{ filter: { age: { $gt: null } } }, '$gt compares with a number or a text'],
    [{ orderBy: [{ field: 'a', direction: 'up; drop' as 'asc' }] }, 'direction must be asc or desc'],
    [{ limit: -1 }, 'limit must be a whole number from 0'],
    [{ offset: 1.5 }, 'offset must be a whole number from 0'],
  ])('refuses %j', async (query, message) => {
    await expect(list(query)).rejects.toThrow(message);
  });
});

describe('creating', () => {
  test('a record that exists answers with the one that is there', async () => {
    const { store } = opened;
    const session = store.session();
    const record = await store.records.create(session, 'people', 'ada', { name: 'another' });
    expect(record).toMatchObject({ id: 'ada', collection: 'people', data: { name: 'Ada' } });
    await session.commit({ handle: 'again', key: 'k', result: null, events: [] });
    expect((await list({ filter: { id: 'ada' } }))[0]?.data).toEqual(PEOPLE['ada']);
  });

  test('refuses an id that no index could hold, and the session lives on', async () => {
    const { store } = opened;
    const session = store.session();
    await expect(store.records.create(session, 'people', 'x'.repeat(1_001), {})).rejects.toThrow('1 to 1000 bytes');
    await store.records.create(session, '__proto__', 'hostile\0', { ok: true });
    await session.commit({ handle: 'id', key: 'k', result: null, events: [] });
    expect(await list({ collection: '__proto__' })).toMatchObject([
      { id: 'hostile\0', collection: '__proto__', data: { ok: true } },
    ]);
  });

  test.each([
    'plain',
    'emoji \u{1F600}',
    'half \uD83D of a pair',
    'half \uDE00',
    'NUL \0',
    'mark \uFDD0',
    'mark \uFDD0d83d',
    'quote " and \\',
  ])('keeps the id %j', async (id) => {
    const { store } = opened;
    const session = store.session();
    await store.records.create(session, `ids of ${id}`, id, {});
    await session.commit({ handle: `id ${JSON.stringify(id)}`, key: 'k', result: null, events: [] });
    expect(await list({ collection: `ids of ${id}`, filter: { id } })).toMatchObject([
      { id, collection: `ids of ${id}` },
    ]);
  });

  test('publishing twice by the same key keeps one event', async () => {
    const { store } = opened;
    const session = store.session();
    for (const data of [1, 2])
      await store.signals.publish(session, { handle: 'p', key: 'steps.0@1', name: 'done', data });
    const rows = await session.read<{ data: number }>(`select data from published_events where handle = $1`, ['p']);
    expect(rows).toEqual([{ data: 1 }]);
    await session.close();
  });
});
