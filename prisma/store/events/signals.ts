/**
 * Published events and the runs that wait for them.
 *
 * Invariants:
 * - Events are delivered in the order of `position`, which is given after their commit: a reader who
 *   has seen position N has seen, or never will want, all below N.
 * - A run that an event started sees the events after that one in this order, whenever they were written.
 * - A subscription is written before the run looks a last time, so an event either is found by that
 *   look or finds the subscription.
 * - The lines of a run that wait for the same pattern share a subscription, and what one of them has had may be new to
 *   another: a look takes no wake-up from it that is still due.
 * - Who wakes is done with an event only when no unclaimed subscription matches it, as seen without skipping what others
 *   hold locked. The claims and the place in the order are one transaction; whoever dies with claims in its hands loses
 *   no wake-up, as they grow old.
 */
import { eventRegex, isEventGlob } from '../../../language/events/event-glob.ts';
import type { Json } from '../../../language/json.ts';
import type { PublishedEvent } from '../../../language/events/published-event.ts';
import type { Session } from '../contract/session-contract.ts';
import type { Database } from '../connection/database.ts';
import type { ClaimedRun, KeptEvent, KeptQuery, NewEvent, Signals, WantedEvent } from '../contract/event-contract.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { EVENT_CHANNEL, type Announcer, type Listener } from './wakeups.ts';
import { crashPoint } from '../../../world/crash-points/crash-point.ts';

/** Events looked at in one go. */
const FRESH_MAX = 1_000;
const PUBLISH_MAX = 500;
const CLAIM_LASTS = '30 seconds';
/** While nobody announces anything: what an announcement that was lost costs. */
const LOOK_MS = 5_000;

export function signals(database: Database, announcer: Announcer, listener: Listener): Signals {
  return {
    // Announced with the commit, which records the step that published it.
    async publish(session: Session, event: NewEvent) {
      await session.write(
        'insert into published_events (handle, key, name, data, project) values ($1, $2, $3, $4::json, $5) on conflict (handle, key) do nothing',
        [event.handle, event.key, withoutNul(event.name), JSON.stringify(event.data), event.project ?? null],
      );
    },

    announce: () => announcer.announce(EVENT_CHANNEL, ''),

    async publishAll(events) {
      for (let start = 0; start < events.length; start += PUBLISH_MAX)
        await insert(database, events.slice(start, start + PUBLISH_MAX));
      if (events.length > 0) announcer.announce(EVENT_CHANNEL, '');
    },

    kept: (query) => kept(database, query),
    next: (wanted) => next(database, wanted),
    claim: claimer(database),

    async told(claims) {
      await database.query(
        `delete from event_subscriptions s using unnest($1::text[], $2::text[], $3::timestamptz[]) as told(handle, glob, claimed_at)
         where s.handle = told.handle and s.glob = told.glob and s.claimed_at = told.claimed_at`,
        [claims.map(({ handle }) => handle), claims.map(({ glob }) => glob), claims.map(({ claimedAt }) => claimedAt)],
      );
    },

    listen: () => listener.listen(EVENT_CHANNEL, '', LOOK_MS),
  };
}

async function insert(database: Database, events: readonly NewEvent[]): Promise<void> {
  await database.query(
    `insert into published_events (handle, key, name, data)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::json[]) on conflict (handle, key) do nothing`,
    [
      events.map(({ handle }) => handle),
      events.map(({ key }) => key),
      events.map(({ name }) => withoutNul(name)),
      events.map(({ data }) => JSON.stringify(data)),
    ],
  );
}

export interface EventRow {
  position: number;
  handle: string;
  key: string;
  name: string;
  data: Json;
  at: Date;
}

export const toKept = ({ at, ...row }: EventRow): KeptEvent => ({ ...row, at: at.getTime() });

/** As parameters `name` and `pattern`, one of which is null: `(name is null or …) and (pattern is null or …)`. */
export const namedBy = (event: string): [name: string | null, pattern: string | null] =>
  isEventGlob(event) ? [null, withoutNul(eventRegex(event))] : [withoutNul(event), null];

const toEvent = ({ position, handle, key, name, data, at }: EventRow): PublishedEvent => ({
  position,
  id: `${handle}/${key}`,
  name,
  data,
  at: at.getTime(),
});

async function kept(database: Database, query: KeptQuery): Promise<KeptEvent[]> {
  const { pattern, handle, key, after, limit } = query;
  await database.query('select place_events()', []);
  const rows = await database.query<EventRow>(
    `select position, handle, key, name, data, at from published_events
     where position > $1 and ($2::text is null or name = $2) and ($3::text is null or name ~ $3)
       and ($4::text is null or handle = $4 or (starts_with(handle, $4 || '/') and $5::text is null))
       and ($5::text is null or key = $5)
     order by position ${after === undefined ? 'desc' : 'asc'} limit $6`,
    [
      after ?? 0,
      ...(pattern === undefined ? [null, null] : namedBy(pattern)),
      handle === undefined ? null : withoutNul(handle),
      key ?? null,
      limit,
    ],
  );
  const events = rows.map(toKept);
  return after === undefined ? events.toReversed() : events;
}

async function next(database: Database, wanted: WantedEvent): Promise<PublishedEvent | null> {
  const { handle, glob } = wanted;
  // Read first: an event placed after this is looked for below.
  const head = await headOf(database);
  const found = await look(database, wanted);
  if (found !== null) return found;
  // Of a subscription that is claimed, the wake-up is on its way.
  await database.query(
    `insert into event_subscriptions as s (handle, glob, name, pattern, "after") values ($1, $2, $3, $4, $5)
     on conflict (handle, glob) do update set claimed_at = null,
       "after" = case when s.claimed_at is null then least(s."after", excluded."after") else excluded."after" end`,
    [handle, withoutNul(glob), ...namedBy(glob), head],
  );
  crashPoint('watch.subscribed', { handle });
  return look(database, wanted);
}

async function headOf(database: Database): Promise<number> {
  const [row] = await database.query<{ head: number }>('select latest_event_position() as head', []);
  return row?.head ?? 0;
}

async function look(
  database: Database,
  { handle, glob, withCause, consumed, withEarlier = false }: WantedEvent,
): Promise<PublishedEvent | null> {
  await database.query('select place_events()', []);
  const globs = Object.keys(consumed);
  const own = isEventGlob(glob) ? 'e.name ~ $2' : 'e.name = $2';
  const [row] = await database.query<EventRow>(
    `select e.position, e.handle, e.key, e.name, e.data, e.at from published_events e
       join runs r on r.handle = $1
       left join lateral (
         select c.position from trigger_starts t join published_events c using (seq) where t.handle = $1 limit 1) cause on true
     where ${own} and (e.project is null or e.project = r.project) and e.position > $4::bigint
       and ($7 or case when cause.position is null then e.seq > r.since_seq
         else e.position > cause.position or ($3 and e.position = cause.position) end)
       and not exists (select 1 from unnest($5::text[], $6::bigint[]) as c(pattern, position) where e.position <= c.position and e.name ~ c.pattern)
     order by e.position limit 1`,
    [
      handle,
      withoutNul(isEventGlob(glob) ? eventRegex(glob) : glob),
      withCause,
      consumed[glob] ?? 0,
      globs.map((other) => withoutNul(eventRegex(other))),
      globs.map((other) => consumed[other] ?? 0),
      withEarlier,
    ],
  );
  return row === undefined ? null : toEvent(row);
}

interface Claimed {
  looked: number;
  handles: string[];
  globs: string[];
  claimed: Date;
}

/** Looks for claims whose claimer has died now and then only, however many events there are. */
function claimer(database: Database): (limit: number) => Promise<ClaimedRun[]> {
  let forgottenAt = Number.NEGATIVE_INFINITY;
  const forgotten = (limit: number): Promise<ClaimedRun[]> => {
    forgottenAt = performance.now();
    return claimForgotten(database, limit);
  };
  return async (limit) => {
    for (;;) {
      const [found] = await database.query<Claimed>('select * from claim_waiting($1, $2)', [FRESH_MAX, limit]);
      const { looked = 0, handles = [], globs = [], claimed = new Date() } = found ?? {};
      if (handles.length > 0)
        return handles.map((handle, nth) => ({ handle, glob: globs[nth] ?? '', claimedAt: claimed }));
      if (looked === FRESH_MAX) continue;
      return looked > 0 && performance.now() - forgottenAt < LOOK_MS ? [] : forgotten(limit);
    }
  };
}

/** Those whose claimer has died. */
function claimForgotten(database: Database, limit: number): Promise<ClaimedRun[]> {
  return database.query<ClaimedRun>(
    `update event_subscriptions s set claimed_at = clock_timestamp() from
       (select handle, glob from event_subscriptions where claimed_at < now() - interval '${CLAIM_LASTS}' limit $1 for update skip locked) due
     where s.handle = due.handle and s.glob = due.glob returning s.handle, s.glob, s.claimed_at as "claimedAt"`,
    [limit],
  );
}
