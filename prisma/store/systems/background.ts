/** What systems do again and again (system-contract.ts): a row each, which whoever performs it holds until that is committed. */
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { DueTask, HeldTask, SystemTables } from '../contract/system-contract.ts';
import { failureLengthMax, REST_SECONDS, restParameters } from './rests.ts';

type Background = Pick<
  SystemTables,
  'openTask' | 'dueTask' | 'untilDue' | 'dueRun' | 'settleRun' | 'holdTask' | 'heldTasks'
>;

/** What nobody has tried for so long is of a system that is gone. */
const tellMinutes = 15;
/** Due by every clock: that of the machine may step back between two looks. */
const DUE_AT_ONCE = "'epoch'";
const EVERY = 'clock_timestamp() + make_interval(secs => $3::float8 / 1000)';

export function background(database: Database): Background {
  return {
    ...resting(database),

    async openTask({ system, task, everyMs }) {
      await database.query(
        `insert into system_background (system, task, next_at) values ($1, $2, ${DUE_AT_ONCE})
         on conflict (system, task) do update set next_at = least(system_background.next_at, ${EVERY})`,
        [system, task, everyMs],
      );
    },

    async dueTask(session, { system, task, everyMs }) {
      const [due] = await session.write<DueTask>(
        `select number, attempts as failures from system_background
         where system = $1 and task = $2 and next_at <= now() for update skip locked`,
        [system, task],
      );
      if (due === undefined) return null;
      await session.write(
        `update system_background set number = number + 1, run = null, attempts = 0, failure = null, next_at = ${EVERY}
         where system = $1 and task = $2`,
        [system, task, everyMs],
      );
      return due;
    },

    async untilDue(tasks) {
      const [found] = await database.query<{ ms: number | null }>(
        `select min(case when run is not null then 0 else least(extract(epoch from next_at - clock_timestamp()) * 1000, asked.every) end)::float8 as ms
         from system_background join unnest($1::text[], $2::text[], $3::float8[]) as asked (system, task, every) using (system, task)`,
        [tasks.map(({ system }) => system), tasks.map(({ task }) => task), tasks.map(({ everyMs }) => everyMs)],
      );
      return found?.ms ?? 0;
    },

    async dueRun({ system, task }, handleOf) {
      const [found] = await database.query<DueTask & { run: string | null }>(
        `select number, attempts as failures, run from system_background
         where system = $1 and task = $2 and (run is not null or next_at <= now())`,
        [system, task],
      );
      if (found === undefined || found.run !== null) return found?.run ?? null;
      const [taken] = await database.query<{ run: string }>(
        `update system_background set run = coalesce(run, $3), number = greatest(number, $4 + 1)
         where system = $1 and task = $2 and (run is not null or number = $4) returning run`,
        [system, task, handleOf(found), found.number],
      );
      return taken?.run ?? null;
    },

    async settleRun({ system, task, everyMs }, run) {
      await database.query(
        `update system_background set run = null, attempts = 0, failure = null, next_at = ${EVERY}
         where system = $1 and task = $2 and run = $4`,
        [system, task, everyMs, run],
      );
    },
  };
}

function resting(database: Database): Pick<Background, 'holdTask' | 'heldTasks'> {
  return {
    async holdTask({ system, task }, failure, run) {
      const [held] = await database.query<{ attempts: number }>(
        `update system_background set attempts = attempts + 1, failure = $3, run = null, next_at = now() + ${REST_SECONDS}
         where system = $1 and task = $2 and ($7::text is null or run = $7) returning attempts`,
        [system, task, withoutNul(failure).slice(0, failureLengthMax), ...restParameters, run ?? null],
      );
      return held?.attempts ?? 0;
    },

    async heldTasks() {
      const rows = await database.query<Omit<HeldTask, 'notBefore'> & { notBefore: Date }>(
        `select system, task, attempts, next_at as "notBefore", failure from system_background
         where failure is not null and next_at > now() - make_interval(mins => ${tellMinutes}) order by system, task`,
        [],
      );
      return rows.map(({ notBefore, ...held }) => ({ ...held, notBefore: notBefore.getTime() }));
    },
  };
}
