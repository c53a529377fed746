/**
 * Turns of a definition whose own loop is over the events that start it: a run of it that is under way
 * sees those events itself, so they start no other. An event that arrives meanwhile is held by that
 * run; when the run has ended, what it had not consumed has its turn.
 *
 * Invariants:
 * - T1 Taking a turn, being held, and the release at the end of a run, or of a start that is refused, exclude one
 *      another for each trigger, so that one which ends in that moment leaves no event behind.
 * - T2 Events have their turns in the order of `position`, which is the order in which a run sees them: an event
 *      waits for an earlier one whose start waits, perhaps in the hands of another worker; starts are written in this
 *      order. A run sees nothing before the event that started it, so an earlier one that it held would wait for its end.
 */
import type { PoolClient } from 'pg';
import { matchesEvent } from '../../../language/events/event-glob.ts';
import type { Database } from '../connection/database.ts';
import { queryOn } from '../connection/database.ts';
import type { Session } from '../contract/session-contract.ts';
import type { ClaimedStart, Turn } from '../contract/trigger-contract.ts';

/** Keeps these names apart from other users of advisory locks. */
export const TURNS_SEED = 72_707_372;
const LOCK_TURNS = 'select pg_advisory_xact_lock(hashtextextended($1, $2))';
/** Until the end of the transaction nobody else writes the turns of this trigger. */
export const lockTurns = (client: PoolClient, triggerId: string): Promise<unknown> =>
  queryOn(client, LOCK_TURNS, [triggerId, TURNS_SEED]);

/** Where the event `$2` stands. */
const POSITION = '(select position from published_events where seq = $2)';
/** How long an event waits before it is asked again whether the earlier ones have had their turn. */
export const EARLIER_FIRST_MS = 100;

export function takeTurn(database: Database, { trigger, event, attempts }: ClaimedStart): Promise<Turn> {
  return database.transaction(async (client) => {
    await lockTurns(client, trigger.id);
    const [other] = await queryOn<{ handle: string; isUnderWay: boolean }>(
      client,
      `select s.handle, s.state = 'started' or s.is_chosen as "isUnderWay"
       from trigger_starts s left join published_events e using (seq) left join runs r on r.handle = s.handle
       where s.trigger_id = $1 and s.seq <> $2 and (
         (s.state = 'started' and r.handle is not null and r.finished_at is null)
         or (s.state = 'waiting' and case when s.is_chosen then r.finished_at is null else e.position < ${POSITION} end))
       order by 2 desc limit 1`,
      [trigger.id, event.seq],
    );
    const isFirst = other === undefined;
    // A short run may have ended before the events it took came here.
    const taker = isFirst ? await takerOf(client, trigger.id, event.seq) : null;
    const holder = taker ?? (other?.isUnderWay === true ? other.handle : null);
    const change =
      taker !== null
        ? `state = 'taken', held_by = $4`
        : holder !== null
          ? `state = 'held', held_by = $4`
          : isFirst
            ? 'is_chosen = true'
            : // It counts as no attempt.
              `attempts = attempts - 1, not_before = now() + ${EARLIER_FIRST_MS} * interval '1 ms'`;
    const values = [trigger.id, event.seq, attempts, ...(holder === null ? [] : [holder])];
    await queryOn(
      client,
      `update trigger_starts set ${change} where trigger_id = $1 and seq = $2 and attempts = $3 and state = 'waiting'`,
      values,
    );
    if (holder !== null) return 'held';
    return isFirst ? 'now' : 'later';
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
    `select s.handle, ${consumedBy('s.handle')} as consumed, e.name, e.position
     from trigger_starts s left join published_events cause using (seq), published_events e
     where s.trigger_id = $1 and (s.state = 'started' or s.is_chosen) and s.seq <> $2 and e.seq = $2
     order by cause.position desc nulls last limit 1`,
    [triggerId, seq],
  );
  return latest !== undefined && hasConsumed(latest.consumed, latest) ? latest.handle : null;
}

/** The runs of these handles have ended. How many events they held. */
export async function releaseHeld(session: Session, handles: readonly string[]): Promise<number> {
  if (handles.length === 0) return 0;
  const holders = await session.write<{ id: string; handle: string }>(
    'select trigger_id as id, handle from trigger_starts where handle = any($1::text[]) order by trigger_id',
    [handles],
  );
  let released = 0;
  for (const { id, handle } of holders) {
    await session.write(LOCK_TURNS, [id, TURNS_SEED]);
    const held = await session.write<{ seq: number; name: string; position: number; consumed: Consumed }>(
      `select s.seq, e.name, e.position, ${consumedBy('$1')} as consumed
       from trigger_starts s join published_events e using (seq) where s.held_by = $1 and s.state = 'held'`,
      [handle],
    );
    const isTaken = held.map((event) => hasConsumed(event.consumed, event));
    await session.write(
      `update trigger_starts s set state = case when n.taken then 'taken' else 'waiting' end, not_before = now(),
         held_by = case when n.taken then s.held_by end
       from unnest($2::bigint[], $3::boolean[]) as n(seq, taken) where s.trigger_id = $1 and s.seq = n.seq`,
      [id, held.map(({ seq }) => seq), isTaken],
    );
    released += held.length;
  }
  return released;
}
