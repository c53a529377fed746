/**
 * Messages about runs that wait to be sent. They are written together with the place of whoever makes them in the order
 * of events (worker/notifications/notifier.ts); one whose sender dies is sent by another.
 */
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { Delivery, NotificationStore } from '../contract/notification-contract.ts';

const FINDING_MAX = 500;

export function notifications(database: Database): NotificationStore {
  return {
    async write(session, project, deliveries) {
      for (const { id, handle, event, url, body } of deliveries)
        await session.write(
          `insert into deliveries (id, project, handle, event, url, body) values ($1, $2, $3, $4, $5, $6)
           on conflict (id) do nothing`,
          [id, project, handle, event, url, withoutNul(body)],
        );
    },
    async claim(project, limit, leaseMs) {
      const rows = await database.query<Omit<Delivery, 'madeAt'> & { madeAt: Date }>(
        `update deliveries d set attempts = d.attempts + 1, next_at = now() + $3 * interval '1 ms'
         from (select id from deliveries where project = $1 and state = 'due' and next_at <= now()
               order by next_at limit $2 for update skip locked) as due
         where d.id = due.id
         returning d.id, d.handle, d.event, d.url, d.body, d.attempts, d.made_at as "madeAt"`,
        [project, limit, leaseMs],
      );
      return rows.map((row) => ({ ...row, madeAt: row.madeAt.getTime() }));
    },
    async sent(id) {
      await database.query(`update deliveries set state = 'sent', finding = null where id = $1`, [id]);
    },
    async failed(id, finding, againMs) {
      await database.query(
        `update deliveries set finding = $2, state = case when $3::float8 is null then 'given-up' else state end,
           next_at = now() + coalesce($3::float8, 0) * interval '1 ms' where id = $1 and state = 'due'`,
        [id, withoutNul(finding.slice(0, FINDING_MAX)), againMs],
      );
    },
    async givenUp() {
      const rows = await database.query<{ finding: string | null; url: string }>(
        `select finding, url from deliveries where state = 'given-up' and made_at > now() - interval '8 days' order by next_at desc`,
        [],
      );
      return { count: rows.length, finding: rows[0]?.finding ?? null, url: rows[0]?.url ?? null };
    },
    async sweep() {
      await database.query(`delete from deliveries where state <> 'due' and next_at < now() - interval '7 days'`, []);
    },
  };
}
