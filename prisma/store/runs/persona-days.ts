/**
 * Budgets of personas for a day, and what their runs have used. Steps are one counter a day; dollars and tokens are
 * summed over what was spent since the day began, by an index that has the persona's rows alone.
 */
import type { DayBudget, DayUse, PersonaDayStore } from '../contract/persona-contract.ts';
import type { BulkInsert } from '../contract/session-contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

const BUDGET = `select usd_a_day as usd, tokens_a_day::float8 as tokens, steps_a_day::float8 as steps, time_zone as "timeZone"
  from limits_of_personas where persona = $1
    and time_zone is not null and coalesce(usd_a_day, tokens_a_day, steps_a_day) is not null`;

const use = (persona: string, day: string, from: string): string => `select coalesce(sum(usd), 0)::float8 as usd,
    coalesce(sum(input + output + cache_read + cache_write), 0)::float8 as tokens,
    coalesce((select steps from steps_of_personas where persona = ${persona} and day = ${day}), 0)::float8 as steps
  from spending where persona = ${persona} and at >= ${from}`;

export const USED = use('$1', '$2', '$3');

const USED_BY_EACH = `select used.* from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as asked (persona, date, since, nth)
  cross join lateral (${use('asked.persona', 'asked.date', 'asked.since')}) as used order by asked.nth`;

const BEGIN = `insert into steps_of_personas as s (persona, day, steps) select $1, $2, 1 where $3::float8 >= 1
  on conflict (persona, day) do update set steps = s.steps + 1 where s.steps < $3::float8 returning 1`;

const BEGUN: BulkInsert = {
  text: (rows) => `insert into steps_of_personas as s (persona, day, steps)
    select e.value->>0, e.value->>1, count(*) from json_array_elements(${rows}::json) as e group by 1, 2 order by 1, 2
    on conflict (persona, day) do update set steps = s.steps + excluded.steps`,
};

export function personaDays(database: Database): PersonaDayStore {
  return {
    async budget(persona, isSettled = false) {
      const text = isSettled ? `${BUDGET} for share` : BUDGET;
      const [row] = await database.query<DayBudget>(text, [withoutNul(persona)]);
      return row ?? null;
    },
    async used(persona, { date, from }) {
      const [row] = await database.query<DayUse>(USED, [withoutNul(persona), date, new Date(from)]);
      return row ?? { usd: 0, tokens: 0, steps: 0 };
    },
    async usedByEach(asked) {
      if (asked.length === 0) return [];
      const columns = [
        asked.map(({ persona }) => withoutNul(persona)),
        asked.map(({ day }) => day.date),
        asked.map(({ day }) => new Date(day.from)),
      ];
      return database.query<DayUse>(USED_BY_EACH, columns);
    },
    async beginStep(persona, date, max) {
      return (await database.query(BEGIN, [withoutNul(persona), date, max])).length > 0;
    },
    stepsBegun: BEGUN,
    async wait(handle, persona, until) {
      await database.query(
        `insert into waits_for_days (handle, persona, until) values ($1, $2, $3)
         on conflict (handle) do update set until = coalesce(excluded.until, waits_for_days.until)`,
        [handle, withoutNul(persona), until === null ? null : new Date(until)],
      );
    },
    async go(handle) {
      await database.query('delete from waits_for_days where handle = $1', [handle]);
    },
    async waits(handles) {
      const rows = await database.query<{ handle: string; until: Date }>(
        `select w.handle, w.until from waits_for_days w join runs r on r.handle = w.handle
         where w.handle = any($1::text[]) and r.finished_at is null and w.until > now()`,
        [handles],
      );
      return new Map(rows.map(({ handle, until }) => [handle, until.getTime()]));
    },
    async sweep() {
      await database.query(
        `delete from waits_for_days w using runs r where r.handle = w.handle and r.finished_at is not null`,
        [],
      );
      // Nobody's day lasts so long, wherever it is.
      await database.query(
        `delete from steps_of_personas where day < to_char(now() at time zone 'UTC' - interval '7 days', 'YYYY-MM-DD')`,
        [],
      );
    },
  };
}
