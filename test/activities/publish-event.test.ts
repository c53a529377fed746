/** Event names are indexed, so they are short; their bytes count, not their characters. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { publishEvent } from '../../activities/publish-event.ts';
import type { Store } from '../../prisma/store/contract.ts';
import { migrate } from '../../prisma/store/migrate.ts';
import { openStore } from '../../prisma/store/open-store.ts';
import { createDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'));
  await migrate(database.url);
  store = openStore({ url: database.url });
}, 60_000);
afterAll(async () => {
  await store.close();
  await database.drop();
});

async function publish(key: string, name: string): Promise<unknown> {
  const session = store.session();
  try {
    const result = await publishEvent(store, session, { handle: 'run', key, name, data: null });
    await session.commit({ handle: 'run', key, result, events: [] });
    return result;
  } finally {
    await session.close();
  }
}

test.each(['x'.repeat(500), 'é'.repeat(250)])('a name of 500 bytes is published', async (name) => {
  expect(await publish(`fits ${name}`, name)).toEqual({ event: name });
});

test.each(['x'.repeat(501), 'é'.repeat(251), 'x'.repeat(3000)])('a longer one fails the step', async (name) => {
  await expect(publish(`long ${name}`.slice(0, 700), name)).rejects.toMatchObject({ code: 'VALUE_TOO_LARGE', message: expect.stringContaining('500 are allowed') });
});
