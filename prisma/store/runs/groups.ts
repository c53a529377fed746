/**
 * Groups of runs on Postgres.
 *
 * - G1 Of the runs of a group that have not ended at most one has its turn: who asks decides under one lock a
 *      group, and nobody else writes the turns.
 * - G2 The end of a run frees its group with the same statement that writes the end (commit-statement.ts),
 *      whoever writes it: there is nothing else to free, and nothing that could be forgotten.
 * - G3 Of those who wait the first to be started is the first to have its turn; a turn that was given stays.
 * - G4 Runs may ask in another order than they were started in. One that ends those before it ends also the one
 *      that asks after it, and ends none that was started after it.
 */
import type { PoolClient } from 'pg';
import { queryOn, type Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { GroupStanding, GroupStore, GroupWish, PlaceInGroup } from '../contract/group-contract.ts';
import { defined } from '../../../language/defined.ts';

/** Keeps these names apart from other users of advisory locks. */
const SEED = 72_707_373;

export function groups(database: Database): GroupStore {
  return {
    ask: (wish) =>
      database.transaction((client) =>
        ask(client, { ...wish, project: withoutNul(wish.project), group: withoutNul(wish.group) }),
      ),
    placesOf: (handles) => placesOf(database, handles),
    async sweep() {
      await database.query(
        'delete from group_places g using runs r where r.handle = g.handle and r.finished_at is not null',
        [],
      );
    },
  };
}

/** Who is under way, the one that has the group first. */
const OPEN = `select g.handle, g.taken_at is not null as "isTaken", g.ends_earlier as "endsEarlier",
    (g.since, g.nth) > (own.since, own.nth) as "isLater"
  from group_places g join runs r on r.handle = g.handle join group_places own on own.handle = $3
  where g.project = $1 and g.name = $2 and r.finished_at is null
  order by g.taken_at nulls last, g.since, g.nth`;

interface OpenPlace {
  handle: string;
  isTaken: boolean;
  endsEarlier: boolean;
  /** It was started after the run that asks. */
  isLater: boolean;
}

async function ask(client: PoolClient, { handle, project, group, since, whenHeld }: GroupWish): Promise<GroupStanding> {
  await queryOn(client, 'select pg_advisory_xact_lock(hashtextextended($1, $2))::text', [
    JSON.stringify([project, group]),
    SEED,
  ]);
  await queryOn(
    client,
    `insert into group_places (handle, project, name, since, ends_earlier) values ($1, $2, $3, $4, $5) on conflict (handle) do nothing`,
    [handle, project, group, new Date(since), whenHeld === 'end-earlier'],
  );
  const open = await queryOn<OpenPlace>(client, OPEN, [project, group, handle]);
  const own = open.findIndex((place) => place.handle === handle);
  if (own < 0) throw new Error(`the store knows of no run "${handle}" that goes on`);
  const holder = open.find(({ isTaken }) => isTaken)?.handle ?? null;
  const endedBy = open.findLast(({ endsEarlier, isLater }) => endsEarlier && isLater)?.handle;
  if (own === 0 && (endedBy === undefined || holder === handle)) {
    await queryOn(
      client,
      'update group_places set taken_at = coalesce(taken_at, clock_timestamp()) where handle = $1',
      [handle],
    );
    return { before: null, holder: handle };
  }
  if (whenHeld === 'leave') await queryOn(client, 'delete from group_places where handle = $1', [handle]);
  const before = open.slice(0, own);
  const later = before.filter(({ isLater }) => isLater).map((place) => place.handle);
  return {
    before: before.map((place) => place.handle),
    holder,
    ...(later.length === 0 ? {} : { later }),
    ...defined({ endedBy }),
  };
}

async function placesOf(database: Database, handles: readonly string[]): Promise<PlaceInGroup[]> {
  if (handles.length === 0) return [];
  return database.query<PlaceInGroup>(
    `with open as (
       select g.*, row_number() over (partition by g.project, g.name order by g.taken_at nulls last, g.since, g.nth) - 1 as ahead
       from group_places g join runs r on r.handle = g.handle
       where r.finished_at is null
         and exists (select 1 from group_places a where a.project = g.project and a.name = g.name and a.handle = any($1::text[])))
     select o.handle, o.name as "group", o.taken_at is not null as "isTaken", o.ahead::integer as ahead,
       (select h.handle from open h where h.project = o.project and h.name = o.name and h.taken_at is not null
        order by h.taken_at limit 1) as holder
     from open o where o.handle = any($1::text[])`,
    [handles.map((handle) => withoutNul(handle))],
  );
}
