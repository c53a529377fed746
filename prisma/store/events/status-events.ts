/**
 * What a run tells others by events (docs/triggers.md): `sentinel:{handle}:status` whenever it begins, is held, asks
 * something, goes on or ends, `sentinel:finished:{name}` at its end, `sentinel:{handle}:reminded` when it still waits for
 * an answer, and `sentinel:{handle}:stuck` when a model of it turns in circles. They are published by the very statement that stores what they tell of, under a key made of that, so
 * each is published once, however often it is written.
 *
 * A run whose start and end are stored by one statement tells of its end alone: by then nobody can
 * make anything of its start, and a short run costs no more rows.
 */
import { defined } from '../../../language/defined.ts';
import type { Question } from '../../../language/events/question.ts';
import type { RunEvent, RunStatus, Warning } from '../../../language/events/run-event.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

/** Key of the event that says a run has ended. */
export const FINISHED_KEY = '@finished';

interface Change {
  key: string;
  /** Null: the name ends in that of the run's definition, which the run's row knows. */
  event: string | null;
  data: object;
}

/** What an event that is not the run's end makes of its status; null where it leaves it. */
function statusAfter(event: RunEvent): { status: RunStatus; reason?: string; question?: object } | null {
  switch (event.type) {
    case 'run-started':
      return { status: 'running' };
    case 'paused':
      return { status: 'paused', reason: event.reason };
    case 'asked': {
      const { question } = event;
      return {
        status: 'paused',
        reason: `waits for an answer: ${question.message}`,
        question: questionOf(question),
      };
    }
    case 'resumed':
      return (event.open ?? 0) > 0 ? null : { status: 'running' };
    case 'answered':
    case 'expired':
    case 'withdrawn':
      return event.open > 0 || event.held ? null : { status: 'running' };
    case 'approved':
    case 'reminded':
    case 'run-finished':
    case 'step-started':
    case 'step-finished':
    case 'pass-finished':
    case 'warning':
    case 'compacted':
    case 'notified':
    case 'edited':
    case 'told':
    case 'heard':
    case 'group':
      return null;
    default:
      return event satisfies never;
  }
}

const questionOf = ({ id, kind, choices, assignee, approvers, priority }: Question): object => ({
  id,
  kind,
  choices,
  assignee,
  priority,
  ...defined({ approvers }),
});

const isStuck = (event: RunEvent): event is Warning => event.type === 'warning' && event.code === 'MODEL_STUCK';

/** Whether the event is one for others. */
export const isTold = (event: RunEvent): boolean =>
  event.type === 'run-finished' || event.type === 'reminded' || isStuck(event) || statusAfter(event) !== null;

const KEY = '@status:';

/** Of the published event that tells of one of a run. */
export const keyOf = ({ seq }: Pick<RunEvent, 'seq'>): string => `${KEY}${seq}`;

/** And back; null where it tells of none. */
export const seqOf = (key: string): number | null => (key.startsWith(KEY) ? Number(key.slice(KEY.length)) : null);

function changesIn(handle: string, events: readonly RunEvent[]): Change[] {
  const ends = events.some(({ type }) => type === 'run-finished');
  return events.flatMap((change): Change[] => {
    const { at } = change;
    const own = { key: keyOf(change), event: `sentinel:${handle}:status` };
    if (isStuck(change)) {
      const { key: step, code, message } = change;
      return [{ ...own, event: `sentinel:${handle}:stuck`, data: { handle, step, code, message, at } }];
    }
    if (change.type === 'reminded') {
      const { message, askedAt, reminders } = change.question;
      const data = { handle, question: questionOf(change.question), message, askedAt, reminders, at };
      return [{ ...own, event: `sentinel:${handle}:reminded`, data }];
    }
    if (change.type !== 'run-finished') {
      const now = ends && (change.type === 'run-started' || change.type === 'withdrawn') ? null : statusAfter(change);
      return now === null ? [] : [{ ...own, data: { handle, ...now, at } }];
    }
    const { status, outcome, limit, failure, iterations, durationMs, isBrought } = change;
    const data = { handle, status, outcome, limit, failure, iterations, durationMs, isBrought, at };
    return [
      { ...own, data },
      { key: FINISHED_KEY, event: null, data },
    ];
  });
}

/** The part of a statement that publishes them; null where the batch changes no status. */
export function statusEvents(
  add: (value: unknown) => string,
  handle: string,
  events: readonly RunEvent[],
): string | null {
  const changes = changesIn(handle, events);
  if (changes.length === 0) return null;
  const started = events.find((event) => event.type === 'run-started');
  const run = add(handle);
  const keys = add(changes.map((change) => change.key));
  const names = add(changes.map((change) => change.event));
  // As texts, never taken apart: the type json keeps NUL and halves of pairs, reading them would fail.
  const data = add(changes.map((change) => JSON.stringify(change.data)));
  // A start that is written again after the end tells nobody anything.
  const isStart = started !== undefined && changes.some(({ key }) => key === keyOf(started));
  const late = isStart
    ? `where c.key <> ${add(keyOf(started))} or not exists (select 1 from runs where handle = ${run} and finished_at is not null)`
    : '';
  const [name, parent] = [add(started === undefined ? null : withoutNul(started.name)), add(started?.parent ?? null)];
  // A name stands for what a person saved under it; what a model brings has its id alone.
  const isBrought = events.some((event) => event.type === 'run-finished' && event.isBrought === true);
  const known = isBrought
    ? `coalesce(${add(started?.definitionHash ?? null)}::text, (select definition_hash from runs where handle = ${run}), '')`
    : 'r.name';
  return `insert into published_events (handle, key, name, data)
    select ${run}, c.key, coalesce(c.event, 'sentinel:finished:' || ${known}),
      (coalesce('{"name":' || to_json(r.name) || ',"parent":' || coalesce(to_json(r.parent)::text, 'null') || ',', '{') || substr(c.data, 2))::json
    from unnest(${keys}::text[], ${names}::text[], ${data}::text[]) as c(key, event, data)
      cross join (select coalesce(${name}::text, (select name from runs where handle = ${run}), '') as name,
        coalesce(${parent}::text, (select parent from runs where handle = ${run})) as parent) r
    ${late}
    on conflict (handle, key) do nothing`;
}
