/**
 * One statement for everything a segment leaves behind: its journal row, the run's events, the run's
 * row, and the journal rows it may forget. Being one statement it is one round trip and all or
 * nothing, with or without a transaction around it.
 *
 * Invariant: the text depends only on which parts are present, so that few texts are ever prepared.
 */
import type { Json } from '../../../language/json.ts';
import type { RunEvent, RunStarted } from '../../../language/events/run-event.ts';
import { inboxStatements } from './inbox.ts';
import { incidentStatements } from './incidents.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { projectRun } from './run-projection.ts';
import type { RunStarter } from '../contract/contract.ts';
import type { RunProjection } from './run-projection.ts';
import { statusEvents } from '../events/status-events.ts';

export interface Commit {
  handle: string;
  events: readonly RunEvent[];
  journal?: { key: string; result: Json; lasts?: boolean; seq?: number; place?: number };
  forget?: readonly string[];
  /** Inserts of rows, each with an array of them as JSON text. */
  inserts?: readonly { text: (rows: string) => string; rows: string }[];
}

export interface Statement {
  text: string;
  values: unknown[];
}

/** Collects parameters and answers with their placeholders. */
class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** Null when there is nothing to write. */
export function commitStatement(commit: Commit): Statement | null {
  const parameters = new Parameters();
  const handle = parameters.add(commit.handle);
  const events = inOrder(commit.events);
  const parts: string[] = [];
  // Forgetting the very row that is journaled would hide that another attempt wrote it.
  const forget = (commit.forget ?? []).filter((key) => key !== commit.journal?.key);
  if (commit.journal !== undefined) {
    const key = parameters.add(commit.journal.key);
    const result = parameters.add(JSON.stringify(commit.journal.result));
    const seq = parameters.add(commit.journal.seq ?? null);
    const place = parameters.add(commit.journal.place ?? null);
    const lasts = parameters.add(commit.journal.lasts ?? false);
    parts.push(
      `journaled as (insert into journal (handle, key, result, seq, place, lasts) values (${handle}, ${key}, ${result}::json, ${seq}, ${place}, ${lasts}))`,
    );
  }
  if (events.length > 0) parts.push(`appended as (${appendEvents(parameters, handle, events)})`);
  for (const [index, { text, rows }] of (commit.inserts ?? []).entries())
    parts.push(`inserted${index} as (${text(parameters.add(rows))})`);
  const projection = projectRun(events);
  if (projection !== null) parts.push(`projected as (${writeRun(parameters, handle, projection)})`);
  const published = statusEvents((value) => parameters.add(value), commit.handle, events);
  if (published !== null) parts.push(`published as (${published})`);
  for (const [index, statement] of inboxStatements((value) => parameters.add(value), commit.handle, events).entries())
    parts.push(`inbox_${index} as (${statement})`);
  for (const [index, statement] of incidentStatements(
    (value) => parameters.add(value),
    commit.handle,
    events,
  ).entries())
    parts.push(`incidents_${index} as (${statement})`);
  if (forget.length > 0) {
    parts.push(
      `forgotten as (update journal set result = 'null'::json where handle = ${handle} and key = any(${parameters.add(forget)}::text[]) and not lasts)`,
    );
  }
  if (parts.length === 0) return null;
  return { text: `with ${parts.join(', ')} select ${handle}::text`, values: parameters.values };
}

/** By seq, so that two writers of the same events lock rows in one order; the last of equals wins. */
function inOrder(events: readonly RunEvent[]): RunEvent[] {
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  return [...bySeq.values()].toSorted((a, b) => a.seq - b.seq);
}

function appendEvents(parameters: Parameters, handle: string, events: readonly RunEvent[]): string {
  const seqs = parameters.add(events.map((event) => event.seq));
  const kinds = parameters.add(events.map((event) => event.type));
  // As one JSON array, whose elements Postgres copies out as they are: an array of texts would be
  // escaped and parsed once more.
  const texts = parameters.add(JSON.stringify(events));
  return `insert into run_events (handle, seq, type, event)
    select ${handle}, e.seq, e.type, e.event
    from rows from (unnest(${seqs}::bigint[]), unnest(${kinds}::text[]), json_array_elements(${texts}::json)) as e(seq, type, event)
    on conflict (handle, seq) do update set type = excluded.type, event = excluded.event`;
}

function writeRun(parameters: Parameters, handle: string, projection: RunProjection): string {
  const { finished, started } = projection;
  const values = {
    status: `${parameters.add(projection.status?.value ?? null)}::text`,
    seq: `${parameters.add(projection.status?.seq ?? -1)}::bigint`,
    outcome: `${parameters.add(finished?.outcome ?? null)}::text`,
    limit: `${parameters.add(finished?.limit ?? null)}::text`,
    failure: `${parameters.add(finished?.failure === undefined ? null : JSON.stringify(finished.failure))}::json`,
    outputs: `${parameters.add(finished === null ? null : JSON.stringify(finished.outputs))}::json`,
    iterations: `${parameters.add(projection.iterations)}::integer`,
    finishedAt: `${parameters.add(finished === null ? null : new Date(finished.at))}::timestamptz`,
  };
  const changes = `
    status = case when ${values.seq} > runs.status_seq then ${values.status} else runs.status end,
    status_seq = greatest(runs.status_seq, ${values.seq}),
    outcome = coalesce(${values.outcome}, runs.outcome),
    "limit" = coalesce(${values.limit}, runs."limit"),
    failure = coalesce(${values.failure}, runs.failure),
    outputs = coalesce(${values.outputs}, runs.outputs),
    iterations = greatest(${values.iterations}, runs.iterations),
    finished_at = coalesce(${values.finishedAt}, runs.finished_at)`;
  if (started === null) return `update runs set ${changes} where handle = ${handle}`;
  const fixed = [
    parameters.add(withoutNul(started.name)),
    parameters.add(started.definitionHash),
    parameters.add(withoutNul(started.project)),
    parameters.add(withoutNul(started.persona)),
    parameters.add(started.parent),
    `${parameters.add(JSON.stringify(started.inputs))}::json`,
    `${parameters.add(new Date(started.at))}::timestamptz`,
    parameters.add(starterOf(started)),
  ].join(', ');
  return `insert into runs (handle, name, definition_hash, project, persona, parent, inputs, started_at, started_by,
      status, status_seq, outcome, "limit", failure, outputs, iterations, finished_at)
    values (${handle}, ${fixed}, coalesce(${values.status}, 'running'), ${values.seq}, ${values.outcome},
      ${values.limit}, ${values.failure}, ${values.outputs}, ${values.iterations}, ${values.finishedAt})
    on conflict (handle) do update set ${changes}`;
}

/** Of a run that has no row yet: a nested one, and what a schedule of Temporal starts. */
function starterOf({ parent, origin }: RunStarted): RunStarter {
  if (parent !== null) return 'step';
  return origin?.type === 'schedule' ? 'schedule' : origin?.type === 'event' ? 'trigger' : 'person';
}
