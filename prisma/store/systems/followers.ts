/** Followers of events (system-contract.ts): a row each, which whoever follows holds until what it did is committed. */
import { eventRegex, isEventGlob } from '../../../language/events/event-glob.ts';
import type { Json } from '../../../language/json.ts';
import type { Database } from '../connection/database.ts';
import type { Follower, HeldFollower, SystemTables } from '../contract/system-contract.ts';

interface EventRow {
  position: number;
  handle: string;
  key: string;
  name: string;
  data: Json;
  at: Date;
}

const failureLengthMax = 2_000;

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
      const [cursor] = await session.write<{ position: number }>(
        `select position from system_cursors
         where system = $1 and follower = $2 and (not_before is null or not_before <= now()) for update skip locked`,
        [system, follower],
      );
      if (cursor === undefined) return null;
      const isGlob = isEventGlob(event);
      const [row] = await session.write<EventRow>(
        `select position, handle, key, name, data, at from published_events
         where position > $1 and ($2::text is null or name = $2) and ($3::text is null or name ~ $3) order by position limit 1`,
        [cursor.position, isGlob ? null : event, isGlob ? eventRegex(event) : null],
      );
      // What is not for it is behind it, too.
      await session.write(
        `update system_cursors set position = coalesce($3, latest_event_position()), attempts = 0, not_before = null, failure = null
         where system = $1 and follower = $2 and position < coalesce($3, latest_event_position())`,
        [system, follower, row?.position ?? null],
      );
      return row === undefined ? null : { ...row, at: row.at.getTime() };
    },

    async holdFollower({ system, follower }: Follower, failure, restMs) {
      await database.query(
        `update system_cursors set attempts = attempts + 1, failure = $3, not_before = now() + make_interval(secs => $4::double precision / 1000)
         where system = $1 and follower = $2`,
        [system, follower, failure.replaceAll('\0', '').slice(0, failureLengthMax), restMs],
      );
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
