/**
 * Leases on Postgres: places of runs (their groups) and of steps (what their commands ask for).
 *
 * - G1 No more have a place than the lease has places, but for those that had theirs when it had more: who asks decides
 *      under the lock of the lease's row, and nobody else gives places.
 * - G2 The end of a run leaves its place with the same statement that writes the end (commit-statement.ts), whoever
 *      writes it: there is nothing else to free, and nothing that could be forgotten.
 * - G3 A place of a step is left by its attempt, or when nothing was heard of it for too long. It outlives the end of
 *      the run for so long, because its worker may not have heard of that.
 * - G4 Of those who wait the first in order is the first to have its turn; a turn that was given stays. With several
 *      places free, each of the first so many has one, whoever asks first.
 * - G5 The next attempt at a step has its place, once that before has surely ended: that one can renew it no longer.
 * - G6 Runs may ask in another order than they were started in. One that ends those before it ends also the one
 *      that asks after it, and ends none that was started after it.
 * - G7 A run that leaves its place before it ends is told whose turn it is, under the lock of the lease's row: it tells
 *      these runs, as often as it takes, and they ask.
 */
import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { defined } from '../../../language/defined.ts';
import { queryOn, type Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type {
  HeldStep,
  LeaseKind,
  LeaseName,
  LeaseStanding,
  LeaseStore,
  LeaseWish,
  PlaceInLease,
} from '../contract/lease-contract.ts';
import { LEASE_CHANNEL, type Announcer, type Listener } from '../events/wakeups.ts';

export function leases(database: Database, announcer: Announcer, listener: Listener): LeaseStore {
  const announce = (name: LeaseName): void => announcer.announce(LEASE_CHANNEL, channelOf(name));
  return {
    async ask(wish) {
      const { standing, isWider } = await database.transaction((client) => ask(client, wish));
      if (isWider) announce(wish);
      return standing;
    },
    renew: (held) => database.transaction((client) => renew(client, held)),
    async release(held) {
      await database.query(LEAVE, [...named(held), held.handle, held.step.key, held.step.claim]);
      announce(held);
    },
    leave: (name, handle) => database.transaction((client) => leave(client, name, handle)),
    turns: (name, capacity) => database.transaction((client) => turns(client, name, capacity)),
    listen: (name, pollMs) => listener.listen(LEASE_CHANNEL, channelOf(name), pollMs),
    placesOf: async (handles) => (handles.length === 0 ? [] : places(database, { handles, limit: null })),
    places: (limit) => places(database, { handles: null, limit }),
    sweep: () => sweep(database),
  };
}

const named = ({ kind, project, name }: LeaseName): [string, string, string] => [
  kind,
  withoutNul(project ?? ''),
  withoutNul(name),
];

const channelOf = (name: LeaseName): string =>
  createHash('sha256')
    .update(JSON.stringify(named(name)))
    .digest('hex');

/** Of a place `p` and its run `r`. Nothing of an attempt at a step is seen but what it said last. */
const IS_OPEN = `case
  when p.claim is null then r.finished_at is null
  when p.taken_at is null then p.until > clock_timestamp() and r.finished_at is null
  else greatest(p.until, p.busy_until) > clock_timestamp() end`;

/** An attempt that was overtaken says only that it has ended. */
const LEAVE = `with own as (
    select p.* from lease_places p join leases l on l.id = p.lease_id
    where l.kind = $1 and l.project = $2 and l.name = $3 and p.handle = $4 and p.key = $5),
  ended as (update lease_places p set busy_until = null, busy_claim = null from own
    where p.lease_id = own.lease_id and p.handle = own.handle and p.key = own.key and p.busy_claim = $6)
  delete from lease_places p using own
    where p.lease_id = own.lease_id and p.handle = own.handle and p.key = own.key and p.claim = $6`;

const IN_ORDER = 'p.taken_at nulls last, p.since, p.nth';

const MS = `interval '1 ms'`;

/** Locks the lease. */
const LEASE = `with before as (select capacity from leases where kind = $1 and project = $2 and name = $3)
  insert into leases as l (kind, project, name, capacity) values ($1, $2, $3, $4)
  on conflict (kind, project, name) do update set capacity = case when $5 then excluded.capacity else l.capacity end
  returning id, capacity, (select capacity from before) as before`;

/** Another attempt asks for what this one has; what that one waits for, it has not had itself. */
const IS_OVERTAKEN =
  'p.taken_at is not null and p.claim <> excluded.claim and coalesce(p.busy_until <= clock_timestamp(), true)';

/** What was taken to be dead comes back to the place that it had in the order. */
const PLACE = `insert into lease_places as p (lease_id, handle, key, since, ends_earlier, claim, until)
  values ($1, $2, $3, coalesce($4, clock_timestamp()), $5, $6, clock_timestamp() + $7 * ${MS})
  on conflict (lease_id, handle, key) do update set
    taken_at = case when p.claim is not null and greatest(p.until, p.busy_until) <= clock_timestamp() then null else p.taken_at end,
    busy_until = case when ${IS_OVERTAKEN} then p.until else p.busy_until end,
    busy_claim = case when ${IS_OVERTAKEN} then p.claim else p.busy_claim end,
    claim = excluded.claim, until = excluded.until`;

/** Who is under way, those that have the lease first. */
const OPEN = `select p.handle, p.taken_at is not null as "isTaken", p.ends_earlier as "endsEarlier",
    (p.since, p.nth) > (own.since, own.nth) as "isLater", p.nth = own.nth as "isOwn",
    coalesce(p.busy_until > clock_timestamp(), false) as "isBusy", r.finished_at is not null as "isOver"
  from lease_places p join runs r on r.handle = p.handle
    join lease_places own on own.lease_id = p.lease_id and own.handle = $2 and own.key = $3
  where p.lease_id = $1 and ${IS_OPEN}
  order by ${IN_ORDER}`;

interface OpenPlace {
  handle: string;
  isTaken: boolean;
  endsEarlier: boolean;
  /** It was started, or asked, after the one that asks. */
  isLater: boolean;
  isOwn: boolean;
  /** An attempt before may still be at it. */
  isBusy: boolean;
  isOver: boolean;
}

interface Asked {
  standing: LeaseStanding;
  /** There may be a place for others now. */
  isWider: boolean;
}

async function ask(client: PoolClient, wish: LeaseWish): Promise<Asked> {
  const { handle, step, since, whenHeld } = wish;
  const key = step?.key ?? '';
  const [lease] = await queryOn<{ id: number; capacity: number; before: number | null }>(client, LEASE, [
    ...named(wish),
    wish.capacity,
    wish.states ?? true,
  ]);
  if (lease === undefined) throw new Error('bug: a lease that is written is there');
  await queryOn(client, PLACE, [
    lease.id,
    handle,
    key,
    since === undefined ? null : new Date(since),
    whenHeld === 'end-earlier',
    step?.claim ?? null,
    step?.aliveMs ?? null,
  ]);
  const open = await queryOn<OpenPlace>(client, OPEN, [lease.id, handle, key]);
  const nth = open.findIndex(({ isOwn }) => isOwn);
  const own = open[nth];
  if (own === undefined || own.isOver) throw new Error(`the store knows of no run "${handle}" that goes on`);
  const isWider = lease.capacity > (lease.before ?? lease.capacity);
  const standing = standingOf(open, nth, lease.capacity);
  const place = [lease.id, handle, key];
  if (standing.before === null)
    await queryOn(
      client,
      'update lease_places set taken_at = coalesce(taken_at, clock_timestamp()), busy_until = null, busy_claim = null where lease_id = $1 and handle = $2 and key = $3',
      place,
    );
  else if (whenHeld === 'leave')
    await queryOn(client, 'delete from lease_places where lease_id = $1 and handle = $2 and key = $3', place);
  return { standing, isWider };
}

function standingOf(open: readonly OpenPlace[], nth: number, capacity: number): LeaseStanding {
  const own = open[nth];
  const holder = open.find(({ isTaken }) => isTaken)?.handle ?? null;
  if (own?.isTaken === true) return { before: own.isBusy ? [] : null, holder };
  const endedBy = open.findLast(({ endsEarlier, isLater }) => endsEarlier && isLater)?.handle;
  if (nth < capacity && endedBy === undefined) return { before: null, holder: holder ?? own?.handle ?? null };
  const before = open.slice(0, nth);
  const later = before.filter(({ isLater }) => isLater).map((place) => place.handle);
  return {
    before: before.map((place) => place.handle),
    holder,
    ...(later.length === 0 ? {} : { later }),
    ...defined({ endedBy }),
  };
}

async function renew(client: PoolClient, held: HeldStep): Promise<boolean> {
  const { handle, step } = held;
  const [lease] = await queryOn<{ id: number }>(
    client,
    'select id from leases where kind = $1 and project = $2 and name = $3 for update',
    named(held),
  );
  if (lease === undefined) return false;
  const renewed = await queryOn(
    client,
    `update lease_places p set until = clock_timestamp() + $5 * ${MS} from runs r
     where p.lease_id = $1 and p.handle = $2 and p.key = $3 and p.claim = $4 and p.taken_at is not null
       and p.until > clock_timestamp() and r.handle = p.handle and r.finished_at is null returning p.handle`,
    [lease.id, handle, step.key, step.claim, step.aliveMs],
  );
  return renewed.length > 0;
}

const LOCKED = 'select id, capacity from leases where kind = $1 and project = $2 and name = $3 for update';

async function leave(client: PoolClient, name: LeaseName, handle: string): Promise<string[]> {
  const [lease] = await queryOn<{ id: number; capacity: number }>(client, LOCKED, named(name));
  if (lease === undefined) return [];
  await queryOn(client, `delete from lease_places where lease_id = $1 and handle = $2 and key = ''`, [
    lease.id,
    handle,
  ]);
  return turnsIn(client, lease.id, lease.capacity);
}

async function turns(client: PoolClient, name: LeaseName, capacity: number): Promise<string[]> {
  const [lease] = await queryOn<{ id: number }>(client, LOCKED, named(name));
  return lease === undefined ? [] : turnsIn(client, lease.id, capacity);
}

async function turnsIn(client: PoolClient, lease: number, capacity: number): Promise<string[]> {
  const first = await queryOn<{ handle: string; isTaken: boolean }>(
    client,
    `select p.handle, p.taken_at is not null as "isTaken" from lease_places p join runs r on r.handle = p.handle
     where p.lease_id = $1 and ${IS_OPEN} order by ${IN_ORDER} limit $2`,
    [lease, capacity],
  );
  return first.flatMap(({ handle, isTaken }) => (isTaken ? [] : [handle]));
}

interface PlaceRow extends Omit<PlaceInLease, 'kind' | 'project' | 'step' | 'since'> {
  kind: LeaseKind;
  project: string;
  key: string;
  since: Date;
}

async function places(
  database: Database,
  { handles, limit }: { handles: readonly string[] | null; limit: number | null },
): Promise<PlaceInLease[]> {
  const rows = await database.query<PlaceRow>(
    `with open as (
       select p.*, row_number() over (partition by p.lease_id order by ${IN_ORDER}) - 1 as ahead
       from lease_places p join runs r on r.handle = p.handle
       where ${IS_OPEN}
         and ($1::text[] is null or exists (select 1 from lease_places a where a.lease_id = p.lease_id and a.handle = any($1))))
     select l.kind, l.project, l.name, l.capacity, o.handle, o.key, o.taken_at is not null as "isTaken",
       coalesce(o.taken_at, o.since) as since, o.ahead::integer as ahead,
       array(select h.handle from open h where h.lease_id = o.lease_id and h.taken_at is not null order by h.ahead) as holders
     from open o join leases l on l.id = o.lease_id
     where $1::text[] is null or o.handle = any($1)
     order by l.kind, l.name, l.project, o.ahead limit $2`,
    [handles?.map((handle) => withoutNul(handle)) ?? null, limit],
  );
  return rows.map(({ project, key, since, ...row }) => ({
    ...row,
    project: project === '' ? null : project,
    step: key === '' ? null : key,
    since: since.getTime(),
  }));
}

async function sweep(database: Database): Promise<void> {
  await database.query(
    `delete from lease_places p using runs r where r.handle = p.handle and case
       when p.claim is null then r.finished_at is not null
       else greatest(p.until, p.busy_until) < now() - case when r.finished_at is null then interval '1 day' else interval '0' end end`,
    [],
  );
  await database.transaction(async (client) => {
    const empty = await queryOn<{ id: number }>(
      client,
      'select id from leases l where not exists (select 1 from lease_places p where p.lease_id = l.id) for update skip locked',
      [],
    );
    // Asked for meanwhile: who asks has the lock until its place is written.
    await queryOn(
      client,
      'delete from leases l where id = any($1) and not exists (select 1 from lease_places p where p.lease_id = l.id)',
      [empty.map(({ id }) => id)],
    );
  });
}
