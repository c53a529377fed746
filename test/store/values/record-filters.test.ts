/** Filters and orders as SQL give what a plain evaluation of them gives, with indexes and without. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import { RecordFilter } from '../../../language/params/record-filter.ts';
import type { RecordIndex, RecordOrder } from '../../../prisma/store/contract/record-contract.ts';
import { matches } from '../../../systems/data/matches.ts';
import { randomRuns } from '../../random-runs.ts';
import { reading, useStore } from '../harness/opened.ts';

const opened = useStore();

const LONG = 'x'.repeat(99);
const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'b_',
  '10',
  '100%',
  'é',
  '\u{1F600}',
  '\uFF5E',
  "'; drop table records; --",
  '$x',
  LONG,
  `${LONG}x`,
  `${LONG}xy`,
];
const NUMBERS = [0, 1, -1, 10, 9, 2.5, -2.5, 1e21, -1e-7, 5e-324, 2 ** 53];
const scalar = fc.oneof(
  fc.constantFrom<Json>(...TEXTS),
  fc.constantFrom<Json>(...NUMBERS),
  fc.constantFrom<Json>(null, true, false),
);
const FIELDS = ['a', 'b', 'in.c', 'list.0', 'list.-1', 'list', 'in', 'none', 'q\'."x'];
const value = fc.oneof(
  { weight: 5, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }) as fc.Arbitrary<Json>,
  fc.dictionary(fc.constantFrom('c', 'd'), scalar, { maxKeys: 2, noNullPrototype: true }) as fc.Arbitrary<Json>,
);
const record: fc.Arbitrary<JsonObject> = fc.record(
  { a: value, b: value, in: value, list: fc.array(value, { maxLength: 3 }) as fc.Arbitrary<Json> },
  { requiredKeys: [], noNullPrototype: true },
);
const comparable = fc.oneof(fc.constantFrom<Json>(...TEXTS), fc.constantFrom<Json>(...NUMBERS));
const pattern = fc
  .array(fc.constantFrom('%', '_', 'a', 'b', '1', '0', 'x', '\\%', '\\_', 'é', '\u{1F600}'), { maxLength: 5 })
  .map((parts) => parts.join(''));

const { filter } = fc.letrec<{ filter: JsonObject; operators: JsonObject }>((tie) => ({
  operators: fc.oneof(
    { maxDepth: 3 },
    fc
      .record(
        {
          $eq: value,
          $ne: value,
          $gt: comparable,
          $gte: comparable,
          $lt: comparable,
          $lte: comparable,
          $in: fc.array(value, { maxLength: 3 }) as fc.Arbitrary<Json>,
          $nin: fc.array(value, { maxLength: 3 }) as fc.Arbitrary<Json>,
          $like: pattern,
          $contains: value,
          $exists: fc.boolean(),
        },
        { requiredKeys: [], noNullPrototype: true },
      )
      .filter((operators) => Object.keys(operators).length > 0) as fc.Arbitrary<JsonObject>,
    tie('operators').map(($not): JsonObject => ({ $not })),
  ),
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.dictionary(fc.constantFrom(...FIELDS), fc.oneof(value, tie('operators')), {
      minKeys: 1,
      maxKeys: 2,
      noNullPrototype: true,
    }) as fc.Arbitrary<JsonObject>,
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(($and): JsonObject => ({ $and })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(($or): JsonObject => ({ $or })),
    tie('filter').map(($not): JsonObject => ({ $not })),
  ),
}));

const COLLECTIONS = ['plain', 'indexed'];
const INDEXES: RecordIndex[] = [
  {
    collection: 'indexed',
    fields: [
      { field: 'a', direction: 'asc' },
      { field: 'b', direction: 'desc' },
    ],
  },
  { collection: 'indexed', fields: [{ field: 'in.c', direction: 'desc' }] },
];

/** The same in each collection, and in the order of writing. */
let written: JsonObject[] = [];

beforeAll(async () => {
  const { store } = opened;
  const random = fc.sample(record, { seed: 7, numRuns: 300 });
  const each = TEXTS.concat()
    .map((a): JsonObject => ({ a }))
    .concat(NUMBERS.map((a): JsonObject => ({ a })));
  written = [...each, ...random].map((data, at) => ({ ...data, n: at }));
  for (const collection of COLLECTIONS) {
    const session = store.session();
    for (const [at, data] of written.entries()) await store.records.create(session, collection, `r${at}`, data);
    await session.commit({ handle: collection, key: 'k', result: null, events: [] });
  }
  const made = await store.records.makeIndexes(INDEXES);
  expect(made.map(({ failure }) => failure)).toEqual([null, null]);
});

const listed = async (
  collection: string,
  query: { filter?: JsonObject; orderBy?: RecordOrder[] },
): Promise<unknown[]> => {
  const records = await reading(opened.store, (session) =>
    opened.store.records.list(session, { collection, ...query }),
  );
  return records.map(({ data }) => data['n']);
};

const viewed = (data: JsonObject, at: number): JsonObject => ({ id: `r${at}`, recordVersion: 1, ...data });

describe('a filter', () => {
  test('finds what a plain evaluation finds', async () => {
    await fc.assert(
      fc.asyncProperty(filter, async (wanted) => {
        expect(RecordFilter.safeParse(wanted).error?.issues).toBeUndefined();
        const expected = written.flatMap((data, at) => (matches(viewed(data, at), wanted) ? [at] : []));
        for (const collection of COLLECTIONS)
          expect(await listed(collection, { filter: wanted }), collection).toEqual(expected);
      }),
      randomRuns(3_000, 300),
    );
  });

  test.each<[JsonObject, number]>([
    [{ id: { $in: ['r1', 'r2'] } }, 2],
    [{ recordVersion: 1, id: { $like: 'r1%' } }, 111],
    [{ recordVersion: { $exists: false } }, 0],
    [{ collection: { $ne: 'other' }, a: { $like: '100\\%' } }, 1],
  ])('looks at what the store says itself: %j', async (wanted, least) => {
    expect((await listed('plain', { filter: wanted })).length).toBeGreaterThanOrEqual(least);
  });
});

/** Numbers, texts, booleans, the others, and nothing. */
function rankOf(found: Json | undefined): number {
  if (found === undefined || found === null) return 4;
  return ['number', 'string', 'boolean', 'object'].indexOf(typeof found);
}

function orderOf(one: Json | undefined, other: Json | undefined, sign: 1 | -1): number {
  const [a, b] = [rankOf(one), rankOf(other)];
  if (a === 4 || b === 4) return a - b;
  if (a !== b) return sign * (a - b);
  if (typeof one === 'string' && typeof other === 'string')
    return (
      sign *
      Buffer.compare(
        ...([one, other].map((text) => Buffer.from(Array.from(text).slice(0, 100).join(''))) as [Buffer, Buffer]),
      )
    );
  return sign * (Number(one) - Number(other));
}

const isPlain = (data: JsonObject): boolean => ['a', 'b'].every((field) => rankOf(data[field]) !== 3);

describe('an order', () => {
  const plain: JsonObject = {
    $not: {
      $or: ['a', 'b'].flatMap((f) => [
        { [f]: { $contains: {} } },
        { [f]: { $in: [[]] } },
        { [`${f}.0`]: { $exists: true } },
      ]),
    },
  };

  test.each<RecordOrder['direction'][]>([
    ['asc', 'asc'],
    ['asc', 'desc'],
    ['desc', 'asc'],
    ['desc', 'desc'],
  ])('is that of its values, page by page, too: %s %s', async (first, second) => {
    const orderBy: RecordOrder[] = [
      { field: 'a', direction: first },
      { field: 'b', direction: second },
    ];
    const expected = written
      .filter(isPlain)
      .toSorted(
        (one, other) =>
          orderOf(one['a'], other['a'], first === 'asc' ? 1 : -1) ||
          orderOf(one['b'], other['b'], second === 'asc' ? 1 : -1) ||
          Number(one['n']) - Number(other['n']),
      )
      .map(({ n }) => n);
    for (const collection of COLLECTIONS) {
      expect(await listed(collection, { filter: plain, orderBy })).toEqual(expected);
      expect(await paged(collection, { filter: plain, orderBy }, 7)).toEqual(expected);
    }
  });
});

async function paged(
  collection: string,
  query: { filter: JsonObject; orderBy: RecordOrder[] },
  limit: number,
): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let cursor: string | null = null, more = true; more;) {
    const page = await reading(opened.store, (session) =>
      opened.store.records.page(session, { collection, ...query, limit, cursor }),
    );
    expect(page.records.length).toBeLessThanOrEqual(limit);
    all.push(...page.records.map(({ data }) => data['n']));
    ({ cursor, more } = page);
  }
  return all;
}
