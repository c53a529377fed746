/** Rows read by their key, of several sessions at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { DataRecord } from '../../../prisma/store/contract/record-contract.ts';
import type { KeyedRead } from '../../../prisma/store/contract/session-contract.ts';
import { Database } from '../../../prisma/store/connection/database.ts';
import { SharedReads } from '../../../prisma/store/runs/shared-reads.ts';
import { reading, useStore } from '../harness/opened.ts';

const opened = useStore();
const SQUARES: KeyedRead = {
  text: 'select asked.place::integer, n, n * n as square from unnest($1::integer[]) with ordinality as asked(n, place) where n <> 13',
};
const THIRDS: KeyedRead = {
  text: 'select asked.place::integer, 3 / n as third from unnest($1::integer[]) with ordinality as asked(n, place)',
};

interface Square {
  n: number;
  square: number;
}

/** Counts the keys of each statement that is sent. */
function counting(): { reads: SharedReads; sent: number[]; end: () => Promise<void> } {
  const database = new Database(opened.database.url, 4);
  const sent: number[] = [];
  const reads = new SharedReads((text, values) => {
    sent.push((values[0] as unknown[]).length);
    return database.query(text, values);
  });
  return { reads, sent, end: () => database.close() };
}

const recordOf = (id: string): Promise<DataRecord[]> =>
  reading(opened.store, (session) => opened.store.records.list(session, { collection: 'shared', filter: { id } }));

beforeAll(async () => {
  const session = opened.store.session();
  for (let n = 0; n < 300; n += 1) await opened.store.records.create(session, 'shared', `row ${n}`, { n });
  await session.commit({ handle: 'shared', key: 'k', result: null, events: [] });
});

test('what is asked for at once goes out together, and each has its own answer', async () => {
  const { reads, sent, end } = counting();
  const asked = Array.from({ length: 250 }, (_, n) => n);
  const found = await Promise.all(asked.map((n) => reads.find<Square>(SQUARES, [String(n)])));
  expect(found.map((row) => row?.square)).toEqual(asked.map((n) => (n === 13 ? undefined : n * n)));
  expect(sent).toEqual([100, 100, 50]);
  expect(await reads.find<Square>(SQUARES, ['7'])).toMatchObject({ n: 7, square: 49 });
  expect(sent).toHaveLength(4);
  await end();
});

test('a key that several ask for is asked for once, and each has a row of its own', async () => {
  const { reads, sent, end } = counting();
  const [one, other, third, none] = await Promise.all(
    ['5', '5', '6', '13'].map((key) => reads.find<Square>(SQUARES, [key])),
  );
  expect(sent).toEqual([3]);
  expect([one, other, third?.n, none]).toEqual([
    { place: 1, n: 5, square: 25 },
    { place: 1, n: 5, square: 25 },
    6,
    undefined,
  ]);
  expect(one).not.toBe(other);
  await end();
});

test('keys that differ in their last text only are asked for within the others', async () => {
  const read: KeyedRead = {
    text: `select place::integer, 'any' as how, folder || '/' || file as path from unnest($1::text[], $2::text[]) with ordinality as asked(folder, file, place)`,
    within: `select array_position($2, file) as place, 'within' as how, $1 || '/' || file as path from unnest($2::text[]) as file`,
  };
  const database = new Database(opened.database.url, 4);
  const reads = new SharedReads((text, values) => database.query(text, values));
  const found = (...keys: string[][]): Promise<unknown[]> => Promise.all(keys.map((key) => reads.find(read, key)));
  expect(await found(['a', '1'])).toEqual([{ place: 1, how: 'within', path: 'a/1' }]);
  expect(await found(['a', '1'], ['a', '2'], ['a', '1'])).toMatchObject([
    { how: 'within', path: 'a/1' },
    { path: 'a/2' },
    { path: 'a/1' },
  ]);
  expect(await found(['a', '1'], ['b', '1'], ['a', '1'])).toMatchObject([
    { how: 'any', path: 'a/1' },
    { path: 'b/1' },
    { path: 'a/1' },
  ]);
  await database.close();
});

/** Statements that are answered when the test says so. */
function held(): { reads: SharedReads; sent: number[]; answer: () => Promise<void> } {
  const sent: number[] = [];
  const waiting: (() => void)[] = [];
  const reads = new SharedReads((_text, values) => {
    sent.push((values[0] as unknown[]).length);
    return new Promise((resolve) => waiting.push(() => resolve([])));
  });
  const answer = async (): Promise<void> => {
    waiting.shift()?.();
    await turn();
  };
  return { reads, sent, answer };
}

const turn = (): Promise<void> => sleep(0);

test('near a database one statement is under way, and who asks meanwhile shares the next', async () => {
  const { reads, sent, answer } = held();
  const ask = async (key: string): Promise<void> => {
    void reads.find(SQUARES, [key]);
    await turn();
  };
  await ask('1');
  await ask('2');
  await ask('3');
  expect(sent).toEqual([1]);
  await answer();
  expect(sent).toEqual([1, 2]);
});

test('where the last answer took long, a second statement is under way', async () => {
  const { reads, sent, answer } = held();
  void reads.find(SQUARES, ['1']);
  await sleep(20);
  await answer();
  for (const key of ['2', '3', '4']) {
    void reads.find(SQUARES, [key]);
    await turn();
  }
  expect(sent).toEqual([1, 1, 1]);
});

test('a read of one kind does not wait for all of another', async () => {
  const texts: string[] = [];
  const reads = new SharedReads((text) => {
    texts.push(text);
    return Promise.resolve([]);
  });
  const squares = Array.from({ length: 250 }, () => reads.find(SQUARES, ['1']));
  await Promise.all([...squares, reads.find(THIRDS, ['1'])]);
  expect(texts).toEqual([SQUARES.text, THIRDS.text, SQUARES.text, SQUARES.text]);
});

test('what fails, fails for those who shared the statement and for nobody else', async () => {
  const { reads, end } = counting();
  const answers = await Promise.allSettled([
    reads.find(THIRDS, ['1']),
    reads.find(THIRDS, ['0']),
    reads.find<Square>(SQUARES, ['3']),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(await reads.find(THIRDS, ['3'])).toMatchObject({ third: 1 });
  await end();
  await expect(reads.find(SQUARES, ['1'])).rejects.toThrow('Cannot use a pool after calling end');
});

test('records are found by their id, in many sessions at once', async () => {
  const ids = Array.from({ length: 301 }, (_, n) => `row ${n}`);
  const found = await Promise.all(ids.map(recordOf));
  expect(found.map(([record]) => record?.id)).toEqual([...ids.slice(0, 300), undefined]);
  expect(found[42]).toMatchObject([{ collection: 'shared', data: { n: 42 } }]);
});

test('records of several collections are found at once, also those of one id', async () => {
  const { store } = opened;
  const session = store.session();
  for (const collection of ['"odd" \\ one', 'plain'])
    await store.records.create(session, collection, 'same', { of: collection });
  await session.commit({ handle: 'shared', key: 'several', result: null, events: [] });
  const read = (collection: string): Promise<DataRecord[]> =>
    reading(store, (asking) => store.records.list(asking, { collection, filter: { id: 'same' } }));
  const found = await Promise.all(['"odd" \\ one', 'plain', 'none', 'plain'].map(read));
  expect(found.map(([record]) => record?.data)).toEqual([
    { of: '"odd" \\ one' },
    { of: 'plain' },
    undefined,
    { of: 'plain' },
  ]);
  expect(await read('"odd" \\ one')).toMatchObject([{ collection: '"odd" \\ one', id: 'same' }]);
});

test('a session that has written finds what it wrote, and others do not before its commit', async () => {
  const session = opened.store.session();
  const found = (): Promise<DataRecord[]> =>
    opened.store.records.list(session, { collection: 'shared', filter: { id: 'late' } });
  expect(await found()).toEqual([]);
  opened.store.records.add(session, { collection: 'shared', id: 'late', data: { n: -1 }, createdAt: Date.now() });
  expect(await found()).toMatchObject([{ data: { n: -1 } }]);
  expect(await recordOf('late')).toEqual([]);
  await session.commit({ handle: 'shared', key: 'late', result: null, events: [] });
  expect(await recordOf('late')).toHaveLength(1);
});
