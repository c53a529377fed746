/**
 * Values of secret environment variables, by token. They stand here and nowhere else: not in
 * history, not in events.
 *
 * Invariant: a value goes only when no run under way can hold its token. Those of a run go a day after
 * it and the runs that its steps started have ended; those of a schedule, from which any number of runs take them, once it is removed or
 * replaced; those of a start that came to nothing, a day later.
 */
import { LRUCache } from 'lru-cache';
import type { Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';

const VALUES_MAX = 10_000;
const KEPT = `interval '1 day'`;
const SCHEDULE = '@schedule ';
const PAGE = 100;

/** Whose values those of a schedule are: no run can have such a handle. */
export const scheduleOwner = (id: string): string => `${SCHEDULE}${id}`;

/** The handles of a schedule's runs are its id and the time they were due. */
const RUN_OF_SCHEDULE = `(starts_with(s.handle, '${SCHEDULE}') and starts_with(n.handle, substr(s.handle, ${SCHEDULE.length + 1}) || '-')
  and substr(n.handle, length(s.handle) - ${SCHEDULE.length - 2}) ~ '^\\d{4}-\\d\\d-\\d\\dT')`;
/** A run that a step started may have tokens of any run that led to it. */
const IS_HELD = `exists (select 1 from runs r left join run_roots o on o.handle = split_part(r.handle, '/', 1)
  cross join lateral (values (r.handle), (o.root)) n (handle) where r.finished_at is null
  and (n.handle = s.handle or starts_with(n.handle, s.handle || '/') or ${RUN_OF_SCHEDULE}
    or o.root = (select root from run_roots where handle = s.handle)))`;

const SWEEP = `delete from sealed_values s where not ${IS_HELD} and (
  s.retired_at < now() - ${KEPT}
  or exists (select 1 from runs r where r.handle = s.handle and r.finished_at < now() - ${KEPT})
  or (not starts_with(s.handle, '${SCHEDULE}') and s.created_at < now() - ${KEPT} and not exists (select 1 from runs r where r.handle = s.handle)))`;

export function secrets(database: Database): Store['secrets'] {
  const known = new LRUCache<string, string>({ max: VALUES_MAX });
  return {
    async keep(handle, values, namespace) {
      const tokens = [...values.keys()];
      if (tokens.length === 0) return;
      await database.query(
        `insert into sealed_values (token, handle, value, namespace) select t.token, $1, t.value, $4
         from unnest($2::text[], $3::text[]) as t(token, value) on conflict (token) do nothing`,
        [handle, tokens, [...values.values()], namespace ?? null],
      );
    },
    async find(tokens) {
      const missing = tokens.filter((token) => known.get(token) === undefined);
      if (missing.length > 0) {
        const rows = await database.query<{ token: string; value: string }>(
          'select token, value from sealed_values where token = any($1::text[])',
          [missing],
        );
        for (const { token, value } of rows) known.set(token, value);
      }
      return new Map(
        tokens.flatMap((token): [string, string][] => {
          const value = known.get(token);
          return value === undefined ? [] : [[token, value]];
        }),
      );
    },
    async tokensOf(handle) {
      return (
        await database.query<{ token: string }>('select token from sealed_values where handle = $1', [handle])
      ).map(({ token }) => token);
    },
    async retire(tokens, { mayBeHeld }) {
      if (tokens.length === 0) return;
      await database.query('update sealed_values set retired_at = now() where token = any($1::text[])', [tokens]);
      if (!mayBeHeld)
        await database.query(`delete from sealed_values s where s.token = any($1::text[]) and not ${IS_HELD}`, [
          tokens,
        ]);
    },
    async ofSchedules(namespace, after) {
      return database.query<{ schedule: string; tokens: string[] }>(
        `select substr(handle, ${SCHEDULE.length + 1}) as schedule, array_agg(token) as tokens from sealed_values
         where namespace = $1 and handle collate "C" > $2 and retired_at is null and created_at < now() - ${KEPT}
         group by handle order by handle collate "C" limit ${PAGE}`,
        [namespace, scheduleOwner(after)],
      );
    },
    async sweep() {
      await database.query(SWEEP, []);
    },
  };
}
