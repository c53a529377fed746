/**
 * Messages about runs. What is worth one is noted by the statement that stores the event, so none is lost; a worker
 * makes messages of notes, and sends them. Whoever dies in between leaves rows that another takes up.
 */
import type { RunEvent } from '../../../language/events/run-event.ts';
import { queryOn, type Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { Delivery, Notice, NoticeKind, NotificationStore } from '../contract/models/limit-contract.ts';

const FINDING_MAX = 500;

/** Null where nobody wants to be told. */
function noticeOf(event: RunEvent): NoticeKind | null {
  if (event.type === 'asked') return event.question.id.endsWith(':stuck') ? 'stuck' : 'asked';
  if (event.type === 'warning') return event.code === 'MODEL_STUCK' ? 'stuck' : null;
  if (event.type !== 'run-finished') return null;
  if (event.outcome === 'failed') return 'failed';
  return event.outcome === 'stopped' && event.limit !== 'stop' ? 'stopped' : null;
}

/** The end of a nested run is told by the run around it. */
const ENDS: ReadonlySet<NoticeKind> = new Set<NoticeKind>(['failed', 'stopped']);

/** The part of the statement that stores a batch of events; null where nothing is worth telling. */
export function noticeStatement(
  add: (value: unknown) => string,
  handle: string,
  events: readonly RunEvent[],
): string | null {
  const found = events.flatMap((event) => {
    const kind = noticeOf(event);
    return kind === null ? [] : [{ seq: event.seq, kind, at: event.at, isEnd: ENDS.has(kind) }];
  });
  if (found.length === 0) return null;
  const run = add(handle);
  const columns = [
    `${add(found.map(({ seq }) => seq))}::bigint[]`,
    `${add(found.map(({ kind }) => kind))}::text[]`,
    `${add(found.map(({ at }) => at))}::double precision[]`,
    `${add(found.map(({ isEnd }) => isEnd))}::boolean[]`,
  ].join(', ');
  return `insert into notices (handle, seq, kind, at)
    select ${run}, n.seq, n.kind, to_timestamp(n.at / 1000.0) from unnest(${columns}) as n(seq, kind, at, is_end)
    where not n.is_end or strpos(${run}, '/') = 0
    on conflict (handle, seq) do nothing`;
}

export function notifications(database: Database): NotificationStore {
  return {
    async notices(project, limit) {
      const rows = await database.query<Omit<Notice, 'at'> & { at: Date }>(
        `select n.handle, n.seq::float8 as seq, n.kind, n.at from notices n join runs r on r.handle = n.handle
         where r.project = $1 order by n.at, n.handle, n.seq limit $2`,
        [project, limit],
      );
      return rows.map((row) => ({ ...row, at: row.at.getTime() }));
    },
    spread: (project, notices, deliveries) =>
      database.transaction(async (client) => {
        for (const { id, handle, event, url, body } of deliveries)
          await queryOn(
            client,
            `insert into deliveries (id, project, handle, event, url, body) values ($1, $2, $3, $4, $5, $6)
             on conflict (id) do nothing`,
            [id, project, handle, event, url, withoutNul(body)],
          );
        for (const { handle, seq } of notices)
          await queryOn(client, 'delete from notices where handle = $1 and seq = $2', [handle, seq]);
      }),
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
      await database.query(`delete from notices where at < now() - interval '1 day'`, []);
    },
  };
}
