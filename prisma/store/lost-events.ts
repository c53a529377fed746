/**
 * Taking back what a worker recorded of a run and history does not have, because the worker was lost
 * before its task was answered. Rows of segments stay: what they did happened.
 */
import type { RunEvent } from '../../language/run-event.ts';
import { OWN_NUMBER } from '../../language/event-numbers.ts';
import type { Database } from './database.ts';
import { foldedInbox, type Folded } from './inbox.ts';
import { projectRun } from './run-projection.ts';

/** Events that show in the run's row or in the inbox; what is counted of passes is not taken back. */
const shown: ReadonlySet<RunEvent['type']> = new Set(['paused', 'resumed', 'asked', 'answered', 'expired', 'withdrawn', 'notified', 'run-finished']);

export async function takeBack(database: Database, handle: string, from: number): Promise<void> {
  const lost = await database.query<{ type: RunEvent['type'] }>(`delete from run_events where handle = $1 and seq >= $2 and ${OWN_NUMBER} returning type`, [handle, from]);
  if (!lost.some(({ type }) => shown.has(type))) return;
  const left = await database.query<{ event: RunEvent }>('select event from run_events where handle = $1 and type = any($2) order by seq', [handle, [...shown]]);
  const events = left.map(({ event }) => event);
  await standAs(database, handle, events);
  await askAs(database, handle, foldedInbox(events));
}

async function standAs(database: Database, handle: string, events: readonly RunEvent[]): Promise<void> {
  const { status = null, finished = null } = projectRun(events) ?? {};
  await database.query(
    `update runs set status = $2, status_seq = $3${finished === null ? ', outcome = null, "limit" = null, failure = null, outputs = null, finished_at = null' : ''} where handle = $1`,
    [handle, status?.value ?? 'running', status?.seq ?? -1],
  );
}

/** Items that nothing asks or tells any more go; others stand as the events say that are left. */
async function askAs(database: Database, handle: string, rows: readonly Folded[]): Promise<void> {
  const items = rows.map(({ id, seq, state, answer }) => ({ id, seq, state, answer }));
  await database.query('delete from inbox where handle = $1 and not id = any($2)', [handle, items.map(({ id }) => id)]);
  await database.query(
    `update inbox set seq = s.seq, state = s.state, answer = s.answer
     from json_to_recordset($2::json) as s(id text, seq bigint, state text, answer json)
     where inbox.handle = $1 and inbox.id = s.id and s.seq < inbox.seq`,
    [handle, JSON.stringify(items)],
  );
}
