/**
 * Values of secret environment variables, by token. They stand here and nowhere else: not in
 * history, not in events. They go a day after the run they were kept for has ended.
 */
import { BoundedMap } from './bounded-map.ts';
import type { Store } from './contract.ts';
import type { Database } from './database.ts';

const VALUES_MAX = 10_000;

export function secrets(database: Database): Store['secrets'] {
  const known = new BoundedMap<string, string>(VALUES_MAX);
  return {
    async keep(handle, values) {
      const tokens = [...values.keys()];
      if (tokens.length === 0) return;
      await database.query(
        `insert into sealed_values (token, handle, value) select t.token, $1, t.value from unnest($2::text[], $3::text[]) as t(token, value) on conflict (token) do nothing`,
        [handle, tokens, [...values.values()]],
      );
    },
    async find(tokens) {
      const missing = tokens.filter((token) => known.get(token) === undefined);
      if (missing.length > 0) {
        const rows = await database.query<{ token: string; value: string }>('select token, value from sealed_values where token = any($1::text[])', [missing]);
        for (const { token, value } of rows) known.set(token, value);
      }
      return new Map(tokens.flatMap((token): [string, string][] => {
        const value = known.get(token);
        return value === undefined ? [] : [[token, value]];
      }));
    },
    async sweep() {
      await database.query(
        `delete from sealed_values s where exists (select 1 from runs r where r.handle = s.handle and r.finished_at < now() - interval '1 day')
           and not exists (select 1 from runs n where starts_with(n.handle, s.handle || '/') and n.finished_at is null)`,
        [],
      );
    },
  };
}
