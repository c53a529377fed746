/** Steps that a worker was at when its event loop did not answer any more, and it was ended: one row a time. */
import type { LostStep, LostSteps } from '../contract/lost-steps-contract.ts';
import type { Database } from '../connection/database.ts';

export function lostSteps(database: Database): LostSteps {
  return {
    async add(steps) {
      await database.query(
        'insert into lost_steps (handle, key) select * from unnest($1::text[], $2::text[]) as t(handle, key)',
        [steps.map(({ handle }) => handle), steps.map(({ key }) => key)],
      );
    },
    async count({ handle, key }) {
      const [row] = await database.query<{ count: number }>(
        'select count(*)::integer as count from lost_steps where handle = $1 and key = $2',
        [handle, key],
      );
      return row?.count ?? 0;
    },
    recent: () =>
      database.query<LostStep & { count: number }>(
        `select handle, key, count(*)::integer as count from lost_steps where at > now() - interval '1 day'
         group by handle, key order by max(at) desc limit 1000`,
        [],
      ),
    async sweep() {
      await database.query(
        `delete from lost_steps l using runs r where l.handle = r.handle and r.finished_at < now() - interval '1 day'`,
        [],
      );
    },
  };
}
