/** What goes through Prisma says the same as SQL does: times wherever the server stands, JSON as it was written. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { JsonObject } from '../../language/json.ts';
import { migrate } from '../../prisma/store/connection/migrate.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { openStore } from '../../prisma/store/open-store.ts';
import { createDatabase, type TestDatabase } from '../postgres.ts';
import { all } from './harness/opened.ts';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'));
  await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set timezone = 'Asia/Kathmandu'`);
  await migrate(database.url);
  store = openStore({ url: database.url });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const startedAt = Date.parse('2026-01-01T12:00:00.007Z');

/** A run that has asked a model. */
async function asked(handle: string, rest: { name?: string; startedAt?: number } = {}): Promise<void> {
  const run = { definitionHash: 'h', project: '/p', persona: 'ada', parent: null, inputs: {} };
  await store.runs.create({ handle, name: 'n', startedAt, ...run, ...rest });
  await store.conversations.claim({ handle, conversation: 'steps.0@1' }, 0, 'a');
}

describe('times', () => {
  test('of runs that are listed, and of runs that asked models', async () => {
    await asked('timed', { name: 'timed' });
    expect(await store.runs.find('timed')).toMatchObject({ startedAt });
    for (const found of [(query: object) => store.runs.list(query), (query: object) => all(store.runs.asked(query))]) {
      expect(await found({ name: 'timed', since: startedAt })).toMatchObject([{ handle: 'timed', startedAt }]);
      expect(await found({ name: 'timed', since: startedAt + 1 })).toEqual([]);
    }
  });

  test('of evaluations', async () => {
    const { id, startedAt: begun } = await store.evaluations.begin('timed.json', 'c');
    await store.evaluations.finish(id, {});
    const [kept] = await store.evaluations.list('timed.json', 1);
    const [row] = await database.query<{ ended: string }>(
      'select extract(epoch from finished_at) * 1000 as ended from evaluations where id = $1',
      [id],
    );
    expect(kept).toMatchObject({ id, startedAt: begun, finishedAt: Number(row?.ended) });
  });
});

describe('evaluations', () => {
  const odd = JSON.parse(
    String.raw`{"z":1,"a":"\u0000 \ud800 \udc00 \ufdd0","__proto__":{"b":[]},"10":0.1,"2":1e300,"n":null,"é":"é"}`,
  ) as JsonObject;

  test('keep a result as it was written, and the first one', async () => {
    const { id } = await store.evaluations.begin('odd.json', 'c');
    expect(await store.evaluations.list('odd.json', 1)).toMatchObject([{ id, finishedAt: null, result: null }]);
    await store.evaluations.finish(id, odd);
    await store.evaluations.finish(id, { other: true });
    const [kept] = await store.evaluations.list('odd.json', 1);
    expect(JSON.stringify(kept?.result)).toBe(JSON.stringify(odd));
    const [row] = await database.query<{ text: string }>('select result::text as text from evaluations where id = $1', [
      id,
    ]);
    expect(row?.text).toBe(JSON.stringify(odd));
  });

  test('are listed by file, the newest first', async () => {
    const begun: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) begun.push((await store.evaluations.begin('many.json', 'c')).id);
    expect((await store.evaluations.list('many.json', 2)).map(({ id }) => id)).toEqual(begun.toReversed().slice(0, 2));
  });
});

const handlesOf = async (query: Parameters<Store['runs']['asked']>[0]): Promise<string[]> =>
  (await all(store.runs.asked(query))).map(({ handle }) => handle);

describe('runs that asked models', () => {
  test('are named with the runs nested in them, to the letter', async () => {
    for (const handle of ['a_b', 'a_b/steps.0@1', 'a_b/x%\\_', 'axb/steps.0@1', 'a_bc', 'b', 'c%d', 'ccd/steps.0@1'])
      await asked(handle, { name: 'nested' });
    expect(await handlesOf({ handles: ['a_b'] })).toEqual(['a_b', 'a_b/steps.0@1', 'a_b/x%\\_']);
    expect(await handlesOf({ handles: ['c%d', 'b', 'b'] })).toEqual(['b', 'c%d']);
    expect(await handlesOf({ handles: ['a_b/x%\\_', 'a\0b'] })).toEqual(['a_b/x%\\_']);
    expect(await handlesOf({ handles: [] })).toEqual([]);
    expect(await handlesOf({ name: 'nested', outcomes: [] })).toEqual([]);
  });

  test('come page by page, each once, also those of one moment', async () => {
    const names = Array.from({ length: 230 }, (_, nth) => `paged-${String(nth).padStart(3, '0')}`);
    for (const [nth, handle] of names.entries())
      await asked(handle, { name: 'paged', startedAt: startedAt + Math.floor(nth / 150) });
    await store.runs.create({
      handle: 'paged-silent',
      name: 'paged',
      definitionHash: 'h',
      project: '/p',
      persona: 'ada',
      parent: null,
      inputs: {},
      startedAt,
    });
    expect(await handlesOf({ name: 'paged' })).toEqual(names);
  });
});
