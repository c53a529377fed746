/**
 * Places in the order of published events (cursor-contract.ts): a row each, which whoever feeds holds until what was
 * done with the events is committed.
 */
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { EventCursors, FedCursor, FedEvent, HeldCursor } from '../contract/cursor-contract.ts';
import { failureLengthMax, REST_SECONDS, restParameters } from '../systems/rests.ts';
import { namedBy, toKept, type EventRow } from './signals.ts';

/** Events of which one look finds out whether they are wanted. */
const lookedAtMax = 1_000;

const IS_DUE = '(not_before is null or not_before <= now())';
const FROM: { readonly [from in FedCursor['from']]: string } = {
  now: 'latest_event_position()',
  'a day ago': `coalesce((select position from published_events where position is not null and at < now() - interval '1 day' order by position desc limit 1), 0)`,
};

interface Row extends EventRow {
  seq: number;
  project: string | null;
  after: number;
  failures: number;
}

const wantedBy = ({ event }: FedCursor): [name: string | null, pattern: string | null] =>
  event === null ? [null, null] : namedBy(event);

export function cursors(database: Database): EventCursors {
  return {
    ...resting(database),

    async open({ name, from }) {
      await database.query('select place_events()', []);
      await database.query(
        `insert into event_cursors (name, position) values ($1, ${FROM[from]}) on conflict (name) do nothing`,
        [withoutNul(name)],
      );
    },

    async behind(fed) {
      const wanted = fed.map(wantedBy);
      const rows = await database.query<{ name: string }>(
        'select name from cursors_behind($1, $2, $3, $4) as b(name)',
        [
          fed.map(({ name }) => withoutNul(name)),
          wanted.map(([name]) => name),
          wanted.map(([, pattern]) => pattern),
          lookedAtMax,
        ],
      );
      return new Set(rows.map(({ name }) => name));
    },

    async take(session, fed) {
      const rows = await session.write<Row>(
        `with held as (select position, attempts from event_cursors where name = $1 and ${IS_DUE} for update skip locked),
           batch as (
             select h.position as after, h.attempts as failures, e.* from held h cross join lateral (
               select position, seq, handle, key, name, case when $5 then data end as data, at, project from published_events
               where position > h.position and ($2::text is null or name = $2) and ($3::text is null or name ~ $3)
               order by position limit $4) e),
           moved as (
             update event_cursors set position = (select max(position) from batch), attempts = 0, not_before = null, failure = null
             where name = $1 and exists (select 1 from batch))
         select * from batch order by position`,
        [withoutNul(fed.name), ...wantedBy(fed), fed.most, fed.withData],
      );
      const [first] = rows;
      return first === undefined ? null : { events: rows.map(toFed), after: first.after, failures: first.failures };
    },
  };
}

function resting(database: Database): Pick<EventCursors, 'hold' | 'held'> {
  return {
    async hold(name, after, failure) {
      const [held] = await database.query<{ attempts: number }>(
        `update event_cursors set attempts = attempts + 1, failure = $3,
           not_before = now() + ${REST_SECONDS}
         where name = $1 and position = $2 returning attempts`,
        [withoutNul(name), after, withoutNul(failure).slice(0, failureLengthMax), ...restParameters],
      );
      return held?.attempts ?? null;
    },

    async held() {
      const rows = await database.query<Omit<HeldCursor, 'notBefore'> & { notBefore: Date }>(
        `select name, position, attempts, not_before as "notBefore", failure from event_cursors
         where failure is not null order by name`,
        [],
      );
      return rows.map(({ notBefore, ...held }) => ({ ...held, notBefore: notBefore.getTime() }));
    },
  };
}

const toFed = ({ after: _after, failures: _failures, seq, project, ...row }: Row): FedEvent => ({
  ...toKept(row),
  seq,
  project,
});
