/**
 * Groups of runs on Postgres.
 *
 * - G1 Of the runs of a group that have not ended at most one has its turn: who asks decides under one lock a
 *      group, and nobody else writes the turns.
 * - G2 The end of a run frees its group with the same statement that writes the end (commit-statement.ts),
 *      whoever writes it: there is nothing else to free, and nothing that could be forgotten.
 * - G3 Of those who wait the first to be started is the first to have its turn; a turn that was given stays.
 */
import type { PoolClient } from 'pg';
import { queryOn, type Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { GroupStanding, GroupStore, GroupWish, PlaceInGroup } from '../contract/group-contract.ts';

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
const OPEN = `select g.handle, g.taken_at is not null as "isTaken" from group_places g join runs r on r.handle = g.handle
  where g.project = $1 and g.name = $2 and r.finished_at is null
  order by g.taken_at nulls last, g.since, g.nth`;

async function ask(client: PoolClient, { handle, project, group, since, whenHeld }: GroupWish): Promise<GroupStanding> {
  await queryOn(client, 'select pg_advisory_xact_lock(hashtextextended($1, $2))::text', [
    JSON.stringify([project, group]),
    SEED,
  ]);
  await queryOn(
    client,
    `insert into group_places (handle, project, name, since) values ($1, $2, $3, $4) on conflict (handle) do nothing`,
    [handle, project, group, new Date(since)],
  );
  const open = await queryOn<{ handle: string; isTaken: boolean }>(client, OPEN, [project, group]);
  const own = open.findIndex((place) => place.handle === handle);
  if (own < 0) throw new Error(`the store knows of no run "${handle}" that goes on`);
  const holder = open.find(({ isTaken }) => isTaken)?.handle ?? null;
  if (own === 0) {
    await queryOn(
      client,
      'update group_places set taken_at = coalesce(taken_at, clock_timestamp()) where handle = $1',
      [handle],
    );
    return { before: null, holder: handle };
  }
  if (whenHeld === 'leave') await queryOn(client, 'delete from group_places where handle = $1', [handle]);
  return { before: open.slice(0, own).map((place) => place.handle), holder };
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
