/**
 * Applies the migrations in prisma/migrations without Prisma's native engine, and keeps the same
 * books (`_prisma_migrations`), so that `prisma migrate deploy` and this runner can take turns.
 *
 * Invariants: one process at a time (Prisma's own advisory lock); a migration and its row in the books
 * are one transaction; a migration that was applied never changes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { connectionConfig } from './database.ts';

/** The number `prisma migrate` locks. */
const LOCK = 72_707_369;

const BOOKS = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface Applied {
  name: string;
  checksum: string;
  finished: boolean;
}

/** Sources and compiled files lie at different depths; the SQL lies with the package. */
function migrationsFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'prisma', 'migrations');
    if (existsSync(join(candidate, 'migration_lock.toml'))) return candidate;
    if (folder === dirname(folder))
      throw new Error(`no prisma/migrations above ${import.meta.dirname}; reinstall the package`);
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readApplied(client: Client): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    'select migration_name as name, checksum, finished_at is not null as finished from _prisma_migrations where rolled_back_at is null',
  );
  return rows;
}

/** Those still to apply. Throws where the books and the files contradict each other. */
function pending(migrations: readonly Migration[], applied: readonly Applied[]): Migration[] {
  return migrations.filter((migration) => {
    const entry = applied.find(({ name }) => name === migration.name);
    if (entry === undefined) return true;
    if (!entry.finished) {
      throw new Error(
        `migration ${migration.name} was begun by prisma migrate and failed; repair the database, then run prisma migrate resolve`,
      );
    }
    if (entry.checksum !== migration.checksum) {
      throw new Error(
        `migration ${migration.name} was changed after it had been applied; restore the file and put the change into a new migration`,
      );
    }
    return false;
  });
}

async function apply(client: Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.sql);
    await client.query(
      'insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) values ($1, $2, $3, clock_timestamp(), 1)',
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw new Error(`migration ${migration.name} failed and was undone: ${String(error)}`, { cause: error });
  }
}

/** Brings the database up to date; answers with the names of the migrations it applied. */
export async function migrate(url: string, folder: string = migrationsFolder()): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new Client(connectionConfig(url));
  // A connection that dies rejects the query in flight; the event itself says nothing more.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ books: boolean }>(
      `select to_regclass('_prisma_migrations') is not null as books`,
    );
    if (rows[0]?.books === true && pending(migrations, await readApplied(client)).length === 0) return [];
    // Held until the connection ends.
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query(BOOKS);
    const missing = pending(migrations, await readApplied(client));
    for (const migration of missing) await apply(client, migration);
    return missing.map((migration) => migration.name);
  } finally {
    await client.end().catch(() => undefined);
  }
}
