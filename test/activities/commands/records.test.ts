/** data/*: what filters, pages, versions and orders refuse, and the sentence that says why. */
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import { filterConditionsMax, filterDepthMax } from '../../../language/limits.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
const opened = useStore();

const { step } = commandsOf(opened, registry);
const run = async (name: string, params: JsonObject): Promise<Json> => step(name, params, await temporaryFolder());

const list = (params: JsonObject): Promise<Json> => run('data/list', { collection: 'people', ...params });

const nested = (levels: number): JsonObject =>
  Array.from({ length: levels }).reduce<JsonObject>((inner) => ({ $not: inner }), { a: 1 });

describe('a filter', () => {
  it.each<[JsonObject, string, string]>([
    [{ age: { $near: 3 } }, 'params.filter.age', 'Unrecognized key: "$near" (operators: $eq'],
    [{ age: { $regex: 'x' } }, 'params.filter.age', 'operators: $eq, $ne'],
    [{ age: { $gt: 3, other: 1 } }, 'params.filter.age', 'Unrecognized key: "other"'],
    [{ $gt: 3 }, 'params.filter.$gt', '$gt stands below the field that it looks at: {"size": {"$gt": …}}'],
    [{ $nor: [{ a: 1 }] }, 'params.filter.$nor', 'there is no operator $nor (write $or)'],
    [{ $where: 'true' }, 'params.filter.$where', 'no field of a filter begins with $'],
    [{ '': 1 }, 'params.filter.', 'a field has a name'],
    [{ age: { $gt: null } }, 'params.filter.age.$gt', '$gt compares with a number or a text'],
    [{ age: { $in: 3 } }, 'params.filter.age.$in', '$in needs a list of values'],
    [{ age: { $nin: {} } }, 'params.filter.age.$nin', '$nin needs a list of values'],
    [{ age: { $exists: 'yes' } }, 'params.filter.age.$exists', '$exists needs true or false'],
    [{ name: { $like: 3 } }, 'params.filter.name.$like', '% stands for any text'],
    [{ name: { $like: 'a\\' } }, 'params.filter.name.$like', 'single backslash'],
    [{ $or: [] }, 'params.filter.$or', '$or needs a list of filters'],
    [{ $and: { a: 1 } }, 'params.filter.$and', '$and needs a list of filters'],
    [{ $and: ['a'] }, 'params.filter.$and.0', '$and needs filters, which are objects'],
    [{ $not: 'a' }, 'params.filter.$not', '$not needs a filter'],
    [{ $or: [{ a: { $not: 3 } }] }, 'params.filter.$or.0.a.$not', '$not of a field needs operators'],
    [{ $or: [{ $and: [{ a: { $gtt: 3 } }] }] }, 'params.filter.$or.0.$and.0.a', 'write $gt'],
    [nested(filterDepthMax), 'params.filter', `more than ${filterDepthMax} levels`],
    [nested(400), 'params.filter', `more than ${filterDepthMax} levels`],
    [
      { $or: Array.from({ length: filterConditionsMax + 1 }, (_, n) => ({ a: n })) },
      `params.filter.$or.${filterConditionsMax}.a`,
      `more than ${filterConditionsMax} conditions`,
    ],
  ])('%j is refused', async (filter, place, words) => {
    const listed = list({ filter });
    await expect(listed).rejects.toMatchObject({
      code: 'COMMAND_PARAMS_INVALID',
      message: expect.stringContaining(place) as string,
    });
    await expect(listed).rejects.toThrow(words);
  });

  it('takes what only looks like SQL, NUL and names of objects as what they are', async () => {
    const data = { "'; drop table records; --": "'; drop", 'nul\0': 'a\0b', constructor: 1, 'half \ud800': '%' };
    await run('data/create', { collection: 'odd', id: 'odd', data });
    for (const filter of [
      { "'; drop table records; --": { $like: "'; dr%" } },
      { 'nul\0': { $in: ['a\0b'] } },
      { 'nul\0': { $gte: 'a' } },
      { constructor: { $exists: true } },
      { 'half \ud800': { $like: '\\%' } },
      { $not: { $or: [{ toString: { $exists: true } }, { "x' or '1'='1": { $ne: null } }] } },
      nested(filterDepthMax - 1 - (filterDepthMax % 2)),
    ] as JsonObject[])
      expect(await run('data/list', { collection: 'odd', filter }), JSON.stringify(filter)).toHaveLength(1);
    const injected = [{ field: 'id; drop table records', direction: 'desc' }];
    expect(await run('data/list', { collection: 'odd', orderBy: injected })).toHaveLength(1);
  });

  it.each<Json>([
    [{ field: '$natural' }],
    [{ field: '' }],
    [{ field: 'a', direction: 'up' }],
    { size: 'desc' },
    'size',
    Array.from({ length: 9 }, () => ({ field: 'a' })),
  ])('an order %j is refused', async (orderBy) => {
    await expect(list({ orderBy })).rejects.toThrow(
      /params\.orderBy(?:: needs a list of 1 to 8 fields, such as \[\{"field": "size"|\.0\.field: is the name of a field)/,
    );
  });
});

describe('a page', () => {
  it('goes on behind the one before, from null or an empty text on', async () => {
    for (let n = 0; n < 5; n += 1) await run('data/create', { collection: 'paged', id: `r${n}`, data: { n } });
    const query = { collection: 'paged', orderBy: [{ field: 'n', direction: 'desc' }], limit: 2 };
    const first = (await run('data/list', { ...query, cursor: '' })) as JsonObject;
    expect(first).toMatchObject({ records: [{ n: 4 }, { n: 3 }], more: true });
    expect(await run('data/list', { ...query, cursor: null })).toEqual(first);
    const second = (await run('data/list', { ...query, limit: 3, cursor: first['cursor'] ?? null })) as JsonObject;
    expect(second).toMatchObject({ records: [{ n: 2 }, { n: 1 }, { n: 0 }], more: false });
  });

  it('of another list is a failure with a code of its own', async () => {
    const { cursor } = (await run('data/list', { collection: 'paged', cursor: null, limit: 1 })) as { cursor: string };
    await expect(run('data/list', { collection: 'other', cursor })).rejects.toMatchObject({
      code: 'CURSOR_INVALID',
      retryable: false,
      message: expect.stringContaining('begin with null') as string,
    });
    await expect(run('data/list', { collection: 'paged', cursor, offset: 1 })).rejects.toThrow('leave out "offset"');
  });
});

const refused = (name: string, params: JsonObject) => expect(run(name, { collection: 'versions', ...params })).rejects;

describe('a version', () => {
  it('that is not that of the record any more is a failure, and changes nothing', async () => {
    const collection = 'versions';
    const made = (await run('data/create', { collection, id: 'a', data: { n: 1 } })) as JsonObject;
    expect(made['recordVersion']).toBe(1);
    const change = (data: JsonObject, recordVersion: number) =>
      run('data/update', { collection, id: 'a', data, recordVersion });
    expect(await change({ n: 2 }, 1)).toMatchObject([{ n: 2, recordVersion: 2 }]);
    await expect(change({ n: 3 }, 1)).rejects.toMatchObject({
      code: 'RECORD_CHANGED',
      details: { collection, id: 'a', recordVersion: 1, now: 2 },
      message: expect.stringContaining('read it again') as string,
    });
    await expect(run('data/delete', { collection, id: 'a', recordVersion: 1 })).rejects.toMatchObject({
      code: 'RECORD_CHANGED',
    });
    expect(await run('data/read', { collection, id: 'a' })).toMatchObject({ n: 2, recordVersion: 2 });
    expect(await run('data/delete', { collection, id: 'a', recordVersion: 2 })).toEqual({ deleted: 1 });
    await expect(change({ n: 3 }, 2)).rejects.toMatchObject({ code: 'RECORD_CHANGED', details: { now: null } });
  });

  it('is that of one record, and no field of its data', async () => {
    await refused('data/update', { filter: { n: 1 }, data: {}, recordVersion: 1 }).toThrow('give its "id"');
    await refused('data/delete', { filter: { n: 1 }, recordVersion: 1 }).toThrow('give its "id"');
    await refused('data/create', { data: { recordVersion: 3 } }).toThrow('a "recordVersion" of its own');
  });
});
