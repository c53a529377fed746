/**
 * Turns of a definition whose own loop is over the events that start it: a run of it that is under way
 * sees those events itself, so they start no other. An event that arrives meanwhile is held by that
 * run; when the run has ended, what it had not consumed has its turn.
 *
 * Invariant: taking a turn, being held, and the release at the end of a run exclude one another for
 * each trigger, so that a run which ends in that moment leaves no event behind.
 */
import type { PoolClient } from 'pg';
import { matchesEvent } from '../../../language/events/event-glob.ts';
import type { Database } from '../connection/database.ts';
import { queryOn } from '../connection/database.ts';
import type { ClaimedStart, Turn } from '../contract/trigger-contract.ts';

/** Keeps these names apart from other users of advisory locks. */
const SEED = 72_707_372;
const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, $2))';
const EARLIER_FIRST_MS = 100;

export function takeTurn(database: Database, { trigger, event, attempts }: ClaimedStart): Promise<Turn> {
  return database.transaction(async (client) => {
    await queryOn(client, LOCK, [trigger.id, SEED]);
    const [other] = await queryOn<{ handle: string; isUnderWay: boolean }>(
      client,
      `select s.handle, s.state = 'started' or s.is_chosen as "isUnderWay"
       from trigger_starts s left join runs r on r.handle = s.handle
       where s.trigger_id = $1 and s.seq <> $2 and (
         (s.state = 'started' and r.handle is not null and r.finished_at is null)
         or (s.state = 'waiting' and case when s.is_chosen then r.finished_at is null else s.seq < $2 end))
       order by 2 desc limit 1`,
      [trigger.id, event.seq],
    );
    // A short run may have ended before the events it took came here.
    const taker = other === undefined ? await takerOf(client, trigger.id, event.seq) : null;
    const change =
      taker !== null
        ? `state = 'taken', held_by = $4`
        : other === undefined
          ? 'is_chosen = true'
          : other.isUnderWay
            ? `state = 'held', held_by = $4`
            : // In their order: a run sees the events after the one that started it. It counts as no attempt.
              `attempts = attempts - 1, not_before = now() + ${EARLIER_FIRST_MS} * interval '1 ms'`;
    const holder = taker ?? (other?.isUnderWay === true ? other.handle : null);
    const values = [trigger.id, event.seq, attempts, ...(holder === null ? [] : [holder])];
    await queryOn(
      client,
      `update trigger_starts set ${change} where trigger_id = $1 and seq = $2 and attempts = $3 and state = 'waiting'`,
      values,
    );
    if (holder !== null) return 'held';
    return other === undefined ? 'now' : 'later';
  });
}

type Consumed = { [pattern: string]: number } | null;

function hasConsumed(consumed: Consumed, { name, position }: { name: string; position: number }): boolean {
  return Object.entries(consumed ?? {}).some(([pattern, upTo]) => position <= upTo && matchesEvent(pattern, name));
}

/** A run's last event says what it had consumed. */
const consumedBy = (handle: string): string =>
  `(select event -> 'consumed' from run_events where handle = ${handle} and type = 'run-finished' order by seq desc limit 1)`;

/** The latest run of the trigger, if the event was one of those it consumed: earlier runs consumed less. */
async function takerOf(client: PoolClient, triggerId: string, seq: number): Promise<string | null> {
  const [latest] = await queryOn<{ handle: string; consumed: Consumed; name: string; position: number }>(
    client,
    `select s.handle, ${consumedBy('s.handle')} as consumed, e.name, e.position from trigger_starts s, published_events e
     where s.trigger_id = $1 and (s.state = 'started' or s.is_chosen) and s.seq <> $2 and e.seq = $2 order by s.seq desc limit 1`,
    [triggerId, seq],
  );
  return latest !== undefined && hasConsumed(latest.consumed, latest) ? latest.handle : null;
}

/** The runs of these handles have ended. */
export async function releaseHeld(client: PoolClient, handles: readonly string[]): Promise<void> {
  const holders = await queryOn<{ id: string; handle: string }>(
    client,
    'select trigger_id as id, handle from trigger_starts where handle = any($1::text[]) order by trigger_id',
    [handles],
  );
  for (const { id, handle } of holders) {
    await queryOn(client, LOCK, [id, SEED]);
    const held = await queryOn<{ seq: number; name: string; position: number; consumed: Consumed }>(
      client,
      `select s.seq, e.name, e.position, ${consumedBy('$1')} as consumed
       from trigger_starts s join published_events e using (seq) where s.held_by = $1 and s.state = 'held'`,
      [handle],
    );
    const isTaken = held.map((event) => hasConsumed(event.consumed, event));
    await queryOn(
      client,
      `update trigger_starts s set state = case when n.taken then 'taken' else 'waiting' end, not_before = now(),
         held_by = case when n.taken then s.held_by end
       from unnest($2::bigint[], $3::boolean[]) as n(seq, taken) where s.trigger_id = $1 and s.seq = n.seq`,
      [id, held.map(({ seq }) => seq), isTaken],
    );
  }
}
