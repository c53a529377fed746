/**
 * Triggers on Postgres. They have a place in the order of events (cursors.ts); `spread` (spread.ts) turns an event
 * into one start for each trigger that matches it; `claim` leases starts to whoever performs them.
 *
 * Invariants: starts are claimed with SKIP LOCKED, so workers share them without waiting for each other; a start is
 * written in the transaction that moves the place of the triggers, so an event is neither lost nor spread twice; a lease
 * that runs out returns the start.
 */
import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Policy } from '../../../language/policy/policy.ts';
import { queryOn } from '../connection/database.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { spread } from './spread.ts';
import type {
  ClaimedStart,
  OutsideEvent,
  StartsOf,
  StartState,
  Trigger,
  TriggerStart,
  TriggerStore,
} from '../contract/trigger-contract.ts';
import { isLocked, triggerLocks, watchedLock } from './trigger-locks.ts';
import { lockTurns, takeTurn } from './trigger-turns.ts';
import { EVENT_CHANNEL, FILES_CHANNEL } from './wakeups.ts';
import type { Announcer, Listener } from './wakeups.ts';

/** The column keeps milliseconds, rounded: what is due at once may stand half of one later. */
const IS_DUE = `not_before <= now() + interval '1 ms'`;

/** Of all events, also of those that are not committed yet. */
const LATEST_SEQ = '(select case when is_called then last_value else 0 end from published_events_seq_seq)';
/** What was published while the trigger was paused may still be to come when it is resumed. */
const AFTER_PAUSE = `case when t.is_paused then ${LATEST_SEQ} else t.after_seq end`;
const PAUSE = `update triggers t set is_paused = $2, after_seq = ${AFTER_PAUSE} where id = $1 returning 1`;

const TRIGGER_COLUMNS = `t.id, t.name, t.event, t.definition_hash as "definitionHash", t.project, t.persona, t.inputs,
  t.task_queue as "taskQueue", t.filter, t.debounce_ms as "debounceMs", t.policies, t.is_paused as "isPaused", t.created_at as "createdAt"`;
const START_COLUMNS = `s.handle, s.state, s.reason, s.held_by as "heldBy", s.seq, e.handle || '/' || e.key as "eventId", e.name as "eventName", e.data, e.at`;

interface TriggerRow extends Omit<Trigger, 'createdAt' | 'inputs' | 'policies'> {
  inputs: unknown;
  policies: unknown;
  createdAt: Date;
}

interface StartRow {
  handle: string;
  state: string;
  reason: string | null;
  heldBy: string | null;
  seq: number;
  eventId: string;
  eventName: string;
  data: Json;
  at: Date;
}

const toTrigger = ({ inputs, policies, createdAt, ...rest }: TriggerRow): Trigger => ({
  ...rest,
  inputs: inputs as JsonObject,
  policies: policies as Policy[],
  createdAt: createdAt.getTime(),
});

const toStart = ({ handle, state, reason, heldBy, seq, eventId, eventName, data, at }: StartRow): TriggerStart => ({
  handle,
  state: state as StartState,
  reason,
  heldBy,
  event: { seq, id: eventId, name: eventName, data, at: at.getTime() },
});

export function triggers(database: Database, announcer: Announcer, listener: Listener): TriggerStore {
  return {
    ...registry(database, announcer),
    spread,
    claim: (limit, leaseMs, of) => claim(database, limit, leaseMs, of),
    takeTurn: (start) => takeTurn(database, start),
    settle: (start, how) => settle(database, start, how),

    async publish(event) {
      // Nothing comes back where another process was publishing the same: the second look finds its row.
      const row = (await publish(database, event)) ?? (await publish(database, event));
      if (row === undefined) throw new Error('bug: an event that is neither new nor there');
      announcer.announce(EVENT_CHANNEL, '');
      return row;
    },

    async projectsAwaitingFiles() {
      const rows = await database.query<{ project: string }>(
        `select project from triggers where event like 'file:%' and not is_paused
         union select r.project from event_subscriptions s join runs r using (handle) where s.glob like 'file:%'`,
        [],
      );
      return rows.map((row) => row.project);
    },

    locks: (onLost) => triggerLocks(database.url, onLost),
    isWatched: (project) => isLocked(database, watchedLock(project)),
    listen: () => listener.listen(EVENT_CHANNEL, ''),
    listenForFiles: (pollMs) => listener.listen(FILES_CHANNEL, '', pollMs),
  };
}

/** What is registered, and what became of it. */
function registry(
  database: Database,
  announcer: Announcer,
): Pick<TriggerStore, 'add' | 'list' | 'pause' | 'remove' | 'starts'> {
  return {
    async add(trigger) {
      const [row] = await database.query<TriggerRow & { isNew: boolean }>(
        `insert into triggers as t (id, name, event, definition_hash, project, persona, inputs, task_queue, filter, debounce_ms, policies, after_seq)
         values ($1, $2, $3, $4, $5, $6, $7::json, $8, $9, $10, $11::json, ${LATEST_SEQ})
         on conflict (name, project) do update set event = excluded.event, definition_hash = excluded.definition_hash,
           persona = excluded.persona, inputs = excluded.inputs, task_queue = excluded.task_queue,
           filter = excluded.filter, debounce_ms = excluded.debounce_ms, policies = excluded.policies, is_paused = false, after_seq = ${AFTER_PAUSE}
         returning ${TRIGGER_COLUMNS}, (xmax = 0) as "isNew"`,
        [
          randomUUID(),
          withoutNul(trigger.name),
          trigger.event,
          trigger.definitionHash,
          trigger.project,
          trigger.persona,
          JSON.stringify(trigger.inputs),
          trigger.taskQueue,
          trigger.filter ?? null,
          trigger.debounceMs ?? null,
          JSON.stringify(trigger.policies ?? []),
        ],
      );
      if (row === undefined) throw new Error('bug: an upsert returns its row');
      announcer.announce(FILES_CHANNEL, '');
      const { isNew, ...rest } = row;
      return { trigger: toTrigger(rest), isNew };
    },

    async list() {
      return (
        await database.query<TriggerRow>(`select ${TRIGGER_COLUMNS} from triggers t order by t.name, t.project`, [])
      ).map(toTrigger);
    },

    async pause(id, isPaused) {
      const changed = await database.query(PAUSE, [id, isPaused]);
      announcer.announce(FILES_CHANNEL, '');
      return changed.length > 0;
    },

    remove: (id) => database.transaction((client) => remove(client, id)),

    async starts(id, limit) {
      const rows = await database.query<StartRow>(
        `select ${START_COLUMNS} from trigger_starts s join published_events e using (seq) where s.trigger_id = $1 order by s.seq desc limit $2`,
        [id, limit],
      );
      return rows.map(toStart);
    },
  };
}

/** A run that was started goes on, and finds in its row what event it is about. */
async function remove(client: PoolClient, id: string): Promise<boolean> {
  // Waits for whoever is spreading events; the rows of those are seen only by a statement after it.
  const removed = await queryOn(client, 'delete from triggers where id = $1 returning 1', [id]);
  await queryOn(client, `delete from trigger_starts where trigger_id = $1 and state <> 'started'`, [id]);
  return removed.length > 0;
}

async function settle(
  database: Database,
  { trigger, event, attempts, handle }: ClaimedStart,
  how: Parameters<TriggerStore['settle']>[1],
): Promise<void> {
  const { state } = how;
  const reason = state === 'started' ? null : withoutNul(how.reason);
  const statement = `update trigger_starts set state = $4, reason = $5, not_before = now() + $6 * interval '1 ms'
     where trigger_id = $1 and seq = $2 and attempts = $3 and state = 'waiting'`;
  const values = [trigger.id, event.seq, attempts, state, reason, state === 'waiting' ? how.retryMs : 0];
  if (state !== 'refused') {
    await database.query(statement, values);
    return;
  }
  await database.transaction(async (client) => {
    await lockTurns(client, trigger.id);
    await queryOn(client, statement, values);
    await queryOn(
      client,
      `update trigger_starts set state = 'waiting', held_by = null, not_before = now() where held_by = $1 and state = 'held'`,
      [handle],
    );
  });
}

async function publish(
  database: Database,
  { source, id, name, data, project }: OutsideEvent,
): Promise<{ seq: number; isNew: boolean } | undefined> {
  const [row] = await database.query<{ seq: number; isNew: boolean }>(
    `with published as (
       insert into published_events (handle, key, name, data, project) values ($1, $2, $3, $4::json, $5)
       on conflict (handle, key) do nothing returning seq)
     select seq, true as "isNew" from published
     union all select seq, false from published_events where handle = $1 and key = $2
     limit 1`,
    [source, withoutNul(`${name}/${id}`), withoutNul(name), JSON.stringify(data), project],
  );
  return row;
}

async function claim(
  database: Database,
  limit: number,
  leaseMs: number,
  of: StartsOf | undefined,
): Promise<ClaimedStart[]> {
  const [due] = await database.query(`select 1 from trigger_starts where state = 'waiting' and ${IS_DUE} limit 1`, []);
  if (due === undefined) return [];
  const rows = await database.query<StartRow & { attempts: number; trigger: TriggerRow & { createdAt: string } }>(
    `with due as (
       select d.trigger_id, d.seq from trigger_starts d join triggers q on q.id = d.trigger_id
       where d.state = 'waiting' and ${IS_DUE}
         and ($3::text is null or q.task_queue = $3) and ($4::text is null or q.task_queue !~ $4)
       order by d.not_before, d.seq limit $1 for update of d skip locked),
     s as (
       update trigger_starts set not_before = now() + $2 * interval '1 ms', attempts = attempts + 1
       from due where trigger_starts.trigger_id = due.trigger_id and trigger_starts.seq = due.seq
       returning trigger_starts.*)
     select ${START_COLUMNS}, s.attempts, row_to_json(x) as trigger
     from s join published_events e using (seq) join triggers t on t.id = s.trigger_id
       cross join lateral (select ${TRIGGER_COLUMNS}) x
     order by s.seq`,
    [limit, leaseMs, ...queuesOf(of)],
  );
  return rows.map(({ attempts, trigger, ...start }) => ({
    ...toStart(start),
    attempts,
    trigger: toTrigger({ ...trigger, createdAt: new Date(trigger.createdAt) }),
  }));
}

/** The one queue, and the expression. */
function queuesOf(of: StartsOf | undefined): [string | null, string | null] {
  if (of === undefined) return [null, null];
  return 'queue' in of ? [of.queue, null] : [null, of.notOn];
}
