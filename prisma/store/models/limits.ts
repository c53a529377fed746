/**
 * Rate limits and circuit breakers on Postgres, so that all workers keep one limit together.
 *
 * - L1 A use that has to wait gets its place at once (a row with the time from which it may begin), so uses begin in the
 *      order in which they asked, and each waits once.
 * - L2 A minute is any sixty seconds: the limit's last uses say when the next may begin.
 * - L3 Whoever is asked of a subject decides alone: one lock a subject, for the length of a statement or two.
 */
import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { queryOn, type Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { CircuitState, LimitStore, Permit, Rate } from '../contract/models/limit-contract.ts';

const MINUTE = `interval '1 minute'`;
/** Who has to wait until another use ends asks again after this. */
const AGAIN_MS = 5_000;
/** A probe that nobody hears of is forgotten. */
const PROBE_MS = 120_000;
const FINDING_MAX = 500;

export function limits(database: Database): LimitStore {
  const locked = <Result>(subject: string, work: (client: PoolClient) => Promise<Result>): Promise<Result> =>
    database.transaction(async (client) => {
      await queryOn(client, 'select pg_advisory_xact_lock(hashtextextended($1, 0))::text', [`limit ${subject}`]);
      return work(client);
    });
  return {
    permit: (subject, id, rate, underWayMs) =>
      locked(subject, (client) => permit(client, { subject, id: withoutNul(id) }, rate, underWayMs)),
    async release(subject, id) {
      await database.query('update permits set under_way_until = null where subject = $1 and id = $2', [
        subject,
        withoutNul(id),
      ]);
    },
    pass: (subject, restMs) => pass(database, subject, restMs),
    async settle(subject, { failures, windowMs, restMs }, finding) {
      if (finding === null) {
        await database.query('delete from circuits where subject = $1', [subject]);
        return;
      }
      await database.query(
        `insert into circuits as c (subject, failures, since, finding, open_until)
           values ($1, 1, now(), $5, case when $2 <= 1 then now() + $4 * interval '1 ms' end)
         on conflict (subject) do update set
           failures = case when c.since < now() - $3 * interval '1 ms' and c.open_until is null then 1 else c.failures + 1 end,
           since = case when c.since < now() - $3 * interval '1 ms' and c.open_until is null then now() else c.since end,
           finding = excluded.finding,
           probe_until = null,
           open_until = case
             when c.open_until is not null then now() + $4 * interval '1 ms'
             when c.since >= now() - $3 * interval '1 ms' and c.failures + 1 >= $2 then now() + $4 * interval '1 ms'
             else excluded.open_until end`,
        [subject, failures, windowMs, restMs, withoutNul(finding.slice(0, FINDING_MAX))],
      );
    },
    circuits: () => circuits(database),
    async sweep() {
      await database.query(
        `delete from permits where at < now() - 2 * ${MINUTE} and coalesce(under_way_until, at) < now()`,
        [],
      );
    },
  };
}

interface Use {
  subject: string;
  id: string;
}

async function permit(client: PoolClient, { subject, id }: Use, rate: Rate, underWayMs: number): Promise<Permit> {
  const { perMinute, concurrent } = rate;
  const [own] = await queryOn<{ wait: number }>(
    client,
    'select (extract(epoch from at - clock_timestamp()) * 1000)::float8 as wait from permits where subject = $1 and id = $2',
    [subject, id],
  );
  const waitMs = own === undefined ? await placed(client, { subject, id }, perMinute) : own.wait;
  // The column holds whole milliseconds, rounded.
  if (waitMs >= 1) return { ok: false, waitMs: Math.ceil(waitMs), because: 'perMinute' };
  if (concurrent !== undefined) {
    const [busy] = await queryOn<{ count: number }>(
      client,
      'select count(*) as count from permits where subject = $1 and id <> $2 and under_way_until > clock_timestamp()',
      [subject, id],
    );
    if ((busy?.count ?? 0) >= concurrent) return { ok: false, waitMs: AGAIN_MS, because: 'concurrent' };
  }
  // The next use under that id is another one.
  const begun = `${id} ${randomUUID()}`;
  await queryOn(
    client,
    `update permits set id = $4, under_way_until = clock_timestamp() + $3 * interval '1 ms' where subject = $1 and id = $2`,
    [subject, id, underWayMs, begun],
  );
  return { ok: true, id: begun };
}

/** Its place: now, or a minute after the use that is as many before it as a minute takes. How long that is to wait. */
async function placed(client: PoolClient, { subject, id }: Use, perMinute: number | undefined): Promise<number> {
  const [row] = await queryOn<{ wait: number }>(
    client,
    `insert into permits (subject, id, at)
       select $1, $2, greatest(clock_timestamp(), coalesce((
         select at + ${MINUTE} from permits where subject = $1 order by at desc offset $3 limit case when $4 then 1 else 0 end
       ), clock_timestamp()))
     returning (extract(epoch from at - clock_timestamp()) * 1000)::float8 as wait`,
    [subject, id, (perMinute ?? 1) - 1, perMinute !== undefined],
  );
  return row?.wait ?? 0;
}

async function pass(database: Database, subject: string, restMs: number): ReturnType<LimitStore['pass']> {
  const [row] = await database.query<{ wait: number; finding: string }>(
    `select (extract(epoch from open_until - now()) * 1000)::float8 as wait, finding from circuits
     where subject = $1 and open_until is not null`,
    [subject],
  );
  if (row === undefined) return { ok: true, probe: false };
  if (row.wait > 0) return { ok: false, waitMs: Math.ceil(row.wait), finding: row.finding };
  const probes = await database.query(
    `update circuits set probe_until = now() + $2 * interval '1 ms'
     where subject = $1 and open_until <= now() and (probe_until is null or probe_until <= now()) returning 1`,
    [subject, PROBE_MS],
  );
  if (probes.length > 0) return { ok: true, probe: true };
  return { ok: false, waitMs: Math.min(AGAIN_MS, restMs), finding: row.finding };
}

async function circuits(database: Database): Promise<CircuitState[]> {
  const rows = await database.query<{
    subject: string;
    failures: number;
    openUntil: Date | null;
    isOpen: boolean;
    finding: string;
  }>(
    `select subject, failures, open_until as "openUntil", open_until > now() as "isOpen", finding from circuits
     where open_until is not null or since > now() - interval '1 hour' order by subject`,
    [],
  );
  return rows.map(({ subject, failures, openUntil, isOpen, finding }) => ({
    subject,
    failures,
    state: openUntil === null ? 'closed' : isOpen ? 'open' : 'half-open',
    openUntil: openUntil?.getTime() ?? null,
    finding,
  }));
}
