/** A table that nobody can write to for a while. */
import { Client } from 'pg';
import type { Harness } from './harness.ts';

export interface HeldTable {
  /** Whether somebody waits to write to it. */
  isAwaited(): Promise<boolean>;
  letGo(): Promise<void>;
}

export async function holdTable(harness: Harness, table: 'inbox' | 'records'): Promise<HeldTable> {
  const holder = new Client({ connectionString: harness.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query(`lock table ${table} in exclusive mode`);
  return {
    async isAwaited() {
      const { rows } = await holder.query('select 1 from pg_locks where not granted and relation = $1::regclass', [
        table,
      ]);
      return rows.length > 0;
    },
    async letGo() {
      await holder.query('commit');
      await holder.end();
    },
  };
}
