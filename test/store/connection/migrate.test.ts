import { readdirSync } from 'node:fs';
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../../prisma/store/connection/migrate.ts';
import { createDatabase } from '../../postgres.ts';
import type { TestDatabase } from '../../postgres.ts';

const INIT = '20261121000000_init';
const FOLDER = join(import.meta.dirname, '../../../prisma/migrations');
const ALL = readdirSync(FOLDER)
  .filter((name) => /^\d/.test(name))
  .toSorted();

let database: TestDatabase;
let copy: string;

beforeEach(async () => {
  database = await createDatabase(inject('postgresUrl'));
  copy = await mkdtemp(join(tmpdir(), 'migrations-'));
  await cp(FOLDER, copy, { recursive: true });
});

afterEach(async () => {
  await database.drop();
  await rm(copy, { recursive: true });
});

async function query(sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(sql);
    return result.rows;
  } finally {
    await client.end();
  }
}

describe('migrate', () => {
  test('applies everything once and keeps the books as Prisma does', async () => {
    expect(await migrate(database.url)).toEqual(ALL);
    expect(await migrate(database.url)).toEqual([]);
    expect(
      await query(
        'select migration_name, applied_steps_count, finished_at is not null as finished, length(checksum) as length from _prisma_migrations order by migration_name',
      ),
    ).toEqual(ALL.map((name) => ({ migration_name: name, applied_steps_count: 1, finished: true, length: 64 })));
  });

  test('five processes at once apply it once', async () => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));
    expect(applied.flat()).toEqual(ALL);
  });

  test('refuses a migration that was changed after it had been applied', async () => {
    await migrate(database.url, copy);
    await appendFile(join(copy, INIT, 'migration.sql'), '-- changed\n');
    await expect(migrate(database.url, copy)).rejects.toThrow(
      `migration ${INIT} was changed after it had been applied`,
    );
  });

  test('refuses to go on from a migration that Prisma began and could not finish', async () => {
    await migrate(database.url);
    await query('update _prisma_migrations set finished_at = null');
    await expect(migrate(database.url)).rejects.toThrow('prisma migrate resolve');
  });

  test('a migration that fails leaves nothing behind', async () => {
    await appendFile(join(copy, INIT, 'migration.sql'), 'create table broken (;');
    await expect(migrate(database.url, copy)).rejects.toThrow(`migration ${INIT} failed and was undone`);
    expect(await query(`select to_regclass('runs') as runs`)).toEqual([{ runs: null }]);
    expect(await migrate(database.url)).toEqual(ALL);
  });
});
