/**
 * A run's changes of status as events that others may watch for (docs/triggers.md):
 * `sentinel:{handle}:status` whenever it is held, goes on or ends, and `sentinel:finished:{name}` at
 * its end. They are published by the very statement that stores the change, under a key made of the
 * change, so each is published once, however often the change is written.
 */
import type { RunEvent } from '../../language/run-event.ts';
import { withoutNul } from './jsonb-text.ts';

/** Key of the event that says a run has ended. */
export const FINISHED_KEY = '@finished';

interface Change {
  key: string;
  /** Null: the name ends in that of the run's definition, which the run's row knows. */
  event: string | null;
  data: object;
}

function changesIn(handle: string, events: readonly RunEvent[]): Change[] {
  return events.flatMap((change): Change[] => {
    const { seq, at } = change;
    const own = { key: `@status:${seq}`, event: `sentinel:${handle}:status` };
    if (change.type === 'paused') return [{ ...own, data: { handle, status: 'paused', reason: change.reason, at } }];
    if (change.type === 'resumed') return [{ ...own, data: { handle, status: 'running', at } }];
    if (change.type !== 'run-finished') return [];
    const { status, outcome, limit, failure, iterations, durationMs } = change;
    const data = { handle, status, outcome, limit, failure, iterations, durationMs, at };
    return [{ ...own, data }, { key: FINISHED_KEY, event: null, data }];
  });
}

/** The part of a statement that publishes them; null where the batch changes no status. */
export function statusEvents(add: (value: unknown) => string, handle: string, events: readonly RunEvent[]): string | null {
  const changes = changesIn(handle, events);
  if (changes.length === 0) return null;
  const started = events.find((event) => event.type === 'run-started');
  const run = add(handle);
  const keys = add(changes.map((change) => change.key));
  const names = add(changes.map((change) => change.event));
  // As texts, never taken apart: the type json keeps NUL and halves of pairs, reading them would fail.
  const data = add(changes.map((change) => JSON.stringify(change.data)));
  const [name, parent] = [add(started === undefined ? null : withoutNul(started.name)), add(started?.parent ?? null)];
  return `insert into published_events (handle, key, name, data)
    select ${run}, c.key, coalesce(c.event, 'sentinel:finished:' || r.name),
      (coalesce('{"name":' || to_json(r.name) || ',"parent":' || coalesce(to_json(r.parent)::text, 'null') || ',', '{') || substr(c.data, 2))::json
    from unnest(${keys}::text[], ${names}::text[], ${data}::text[]) as c(key, event, data)
      cross join (select coalesce(${name}::text, (select name from runs where handle = ${run}), '') as name,
        coalesce(${parent}::text, (select parent from runs where handle = ${run})) as parent) r
    on conflict (handle, key) do nothing`;
}
