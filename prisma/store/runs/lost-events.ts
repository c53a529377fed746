/**
 * Taking back what a worker recorded of a run and history does not have, because the worker was lost
 * before its task was answered. Rows of segments stay: what they did happened.
 */
import type { PoolClient } from 'pg';
import { OWN_NUMBER } from '../../../language/events/event-numbers.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { queryOn, type Database } from '../connection/database.ts';
import type { Store } from '../contract/contract.ts';
import { commitStatement } from './commit-statement.ts';
import { inboxStatements } from './inbox.ts';
import { projectRun } from './run-projection.ts';
import type { Announcer } from '../events/wakeups.ts';
import { isTold, keyOf } from '../events/status-events.ts';

/** Whoever goes on with a run: from which number, and how long history was. */
interface Attempt {
  handle: string;
  from: number;
  history: number;
}

/** Events that show in the run's row or in the inbox; what is counted of passes is not taken back. */
const shown: ReadonlySet<RunEvent['type']> = new Set([
  'paused',
  'resumed',
  'asked',
  'answered',
  'approved',
  'reminded',
  'expired',
  'withdrawn',
  'notified',
  'run-finished',
]);

/** False where a later attempt has gone on with the run. */
export const takesBack =
  (database: Database, announcer: Announcer): Store['events']['takeBack'] =>
  async (handle, from, history, instead = []) => {
    const attempt = { handle, from, history };
    const isDone = await database.transaction(async (client) => {
      if (!(await isLatest(client, attempt))) return false;
      await takeBackOn(client, attempt);
      const written = commitStatement({ handle, events: instead });
      if (written !== null) await queryOn(client, written.text, written.values);
      return true;
    });
    if (isDone && instead.length > 0) announcer.announceEvents(handle, instead);
    return isDone;
  };

async function takeBackOn(client: PoolClient, attempt: Attempt): Promise<void> {
  const { handle, from } = attempt;
  const lost = await queryOn<{ event: RunEvent }>(
    client,
    `delete from run_events where handle = $1 and seq >= $2 and ${OWN_NUMBER} returning event`,
    [handle, from],
  );
  await queryOn(client, `delete from incidents where handle = $1 and seq >= $2 and ${OWN_NUMBER}`, [handle, from]);
  const taken = lost.map(({ event }) => event);
  await unpublish(client, handle, taken);
  if (!taken.some(({ type }) => shown.has(type))) return;
  const left = await queryOn<{ event: RunEvent }>(
    client,
    'select event from run_events where handle = $1 and type = any($2) order by seq',
    [handle, [...shown]],
  );
  const events = left.map(({ event }) => event);
  await standAs(client, handle, events);
  await askAs(client, attempt, events);
}

/** A later attempt replayed at least as much, or has seen a task of the earlier one fail. */
async function isLatest(client: PoolClient, { handle, from, history }: Attempt): Promise<boolean> {
  const noted = await queryOn(
    client,
    'update runs set attempt_from = $2, attempt_history = $3 where handle = $1 and (attempt_from, attempt_history) <= ($2::bigint, $3::integer) returning handle',
    [handle, from, history],
  );
  if (noted.length > 0) return true;
  const rows = await queryOn(client, 'select 1 from runs where handle = $1', [handle]);
  return rows.length === 0;
}

/** What happens instead may have the same number, and is told of, too. That a run has ended is told once. */
async function unpublish(client: PoolClient, handle: string, lost: readonly RunEvent[]): Promise<void> {
  const told = lost.filter(isTold);
  if (told.length === 0) return;
  await queryOn(client, 'delete from published_events where handle = $1 and key = any($2)', [
    handle,
    told.map((event) => keyOf(event)),
  ]);
}

async function standAs(client: PoolClient, handle: string, events: readonly RunEvent[]): Promise<void> {
  const { status = null, finished = null } = projectRun(events) ?? {};
  const end =
    finished === null ? ', outcome = null, "limit" = null, failure = null, outputs = null, finished_at = null' : '';
  await queryOn(client, `update runs set status = $2, status_seq = $3${end} where handle = $1`, [
    handle,
    status?.value ?? 'running',
    status?.seq ?? -1,
  ]);
}

/** Items that nothing asks or tells any more go; others stand as the events say that are left. */
async function askAs(client: PoolClient, { handle, from }: Attempt, events: readonly RunEvent[]): Promise<void> {
  await queryOn(client, 'delete from inbox where handle = $1 and seq >= $2', [handle, from]);
  const values: unknown[] = [];
  const parts = inboxStatements((value) => `$${values.push(value)}`, handle, events);
  if (parts.length > 0)
    await queryOn(client, `with ${parts.map((part, nth) => `inbox_${nth} as (${part})`).join(', ')} select 1`, values);
}
