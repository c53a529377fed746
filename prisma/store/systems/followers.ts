/** Followers of events (system-contract.ts): a row each, which whoever follows holds until what it did is committed. */
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { namedBy, toKept, type EventRow } from '../events/signals.ts';
import { failureLengthMax, REST_SECONDS, restParameters } from './rests.ts';
import type { HeldFollower, SystemTables } from '../contract/system-contract.ts';

type Following = Pick<SystemTables, 'openFollower' | 'nextFor' | 'holdFollower' | 'heldFollowers'>;

export function followers(database: Database): Following {
  return {
    async openFollower({ system, follower }) {
      await database.query('select place_events()', []);
      await database.query(
        `insert into system_cursors (system, follower, position) values ($1, $2, latest_event_position())
         on conflict (system, follower) do nothing`,
        [system, follower],
      );
    },

    async nextFor(session, { system, follower, event }) {
      // In a transaction of its own: it holds a lock that all who publish wait for.
      await database.query('select place_events()', []);
      const [cursor] = await session.write<{ position: number; attempts: number }>(
        `select position, attempts from system_cursors
         where system = $1 and follower = $2 and (not_before is null or not_before <= now()) for update skip locked`,
        [system, follower],
      );
      if (cursor === undefined) return null;
      const [row] = await session.write<EventRow>(
        `select position, handle, key, name, data, at from published_events
         where position > $1 and ($2::text is null or name = $2) and ($3::text is null or name ~ $3) order by position limit 1`,
        [cursor.position, ...namedBy(event)],
      );
      // What is not for it is behind it, too.
      await session.write(
        `update system_cursors set position = coalesce($3, latest_event_position()), attempts = 0, not_before = null, failure = null
         where system = $1 and follower = $2 and position < coalesce($3, latest_event_position())`,
        [system, follower, row?.position ?? null],
      );
      return row === undefined ? null : { event: toKept(row), failures: cursor.attempts };
    },

    async holdFollower({ system, follower }, failure) {
      const [held] = await database.query<{ attempts: number }>(
        `update system_cursors set attempts = attempts + 1, failure = $3,
           not_before = now() + ${REST_SECONDS}
         where system = $1 and follower = $2 returning attempts`,
        [system, follower, withoutNul(failure).slice(0, failureLengthMax), ...restParameters],
      );
      return held?.attempts ?? 0;
    },

    async heldFollowers() {
      const rows = await database.query<Omit<HeldFollower, 'notBefore'> & { notBefore: Date }>(
        `select system, follower, position, attempts, not_before as "notBefore", failure from system_cursors
         where failure is not null order by system, follower`,
        [],
      );
      return rows.map(({ notBefore, ...held }) => ({ ...held, notBefore: notBefore.getTime() }));
    },
  };
}
