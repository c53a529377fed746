/**
 * What personas are asked and told. Rows are folded from the events of runs: by (handle, id), and an
 * event that is written again, or late, changes nothing, because a row remembers its newest.
 */
import type { Json } from '../../../language/json.ts';
import type { Approval, Priority, Question, QuestionKind } from '../../../language/events/question.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { InboxItem, Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

const LIST_MAX = 1_000;

export interface Folded {
  id: string;
  seq: number;
  state: InboxItem['state'];
  answer: Json | null;
  item:
    | (Pick<
        Question,
        | 'kind'
        | 'message'
        | 'choices'
        | 'show'
        | 'form'
        | 'assignee'
        | 'approvers'
        | 'priority'
        | 'askedAt'
        | 'expiresAt'
        | 'reminders'
      > & { digest: string | null })
    | null;
  /** Null: as they were. */
  approvals: Approval[] | null;
}

/** The statements that bring the inbox up to date with a batch of events, in the order of `seq`. */
export function inboxStatements(
  add: (value: unknown) => string,
  handle: string,
  events: readonly RunEvent[],
): string[] {
  const all = foldedInbox(events);
  const asked = all.filter((row) => row.item !== null);
  const settled = all.filter((row) => row.item === null);
  return [
    ...(asked.length === 0 ? [] : [upsert(add, handle, asked)]),
    ...(settled.length === 0 ? [] : [settle(add, handle, settled)]),
  ];
}

/** What events in the order of `seq` make of the items that they ask, tell or settle. */
export function foldedInbox(events: readonly RunEvent[]): Folded[] {
  const rows = new Map<string, Folded>();
  for (const event of events) foldInto(rows, event);
  return [...rows.values()];
}

function foldInto(rows: Map<string, Folded>, event: RunEvent): void {
  const { seq } = event;
  switch (event.type) {
    case 'asked':
    case 'reminded': {
      const { id, approvals = [], ...item } = event.question;
      rows.set(id, { id, seq, state: 'open', answer: null, item, approvals });
      return;
    }
    case 'approved': {
      const { id, approvals } = event;
      rows.set(id, { id, seq, state: 'open', answer: null, item: rows.get(id)?.item ?? null, approvals });
      return;
    }
    case 'answered':
    case 'expired':
    case 'withdrawn':
      rows.set(event.id, {
        id: event.id,
        seq,
        state: event.type,
        answer: event.type === 'answered' ? (event.answer as unknown as Json) : null,
        item: rows.get(event.id)?.item ?? null,
        approvals:
          event.type === 'answered' ? (event.answer.approvals ?? null) : (rows.get(event.id)?.approvals ?? null),
      });
      return;
    case 'notified': {
      const id = `${event.key}:${event.condition}`;
      rows.set(id, toldRow(id, seq, told(event, event.message, event.at)));
      return;
    }
    case 'run-finished': {
      if (event.notify === undefined) return;
      const { failure, limit, outcome } = event;
      const message =
        failure?.message ?? (limit === undefined ? `the run ${outcome}` : `the run reached its limit ${limit}`);
      rows.set(':end', toldRow(':end', seq, told(event.notify, message, event.at)));
      return;
    }
    case 'run-started':
    case 'paused':
    case 'resumed':
    case 'step-started':
    case 'step-finished':
    case 'pass-finished':
    case 'warning':
    case 'compacted':
    case 'edited':
    case 'told':
    case 'heard':
    case 'group':
      return;
    default:
      event satisfies never;
  }
}

const toldRow = (id: string, seq: number, item: Folded['item']): Folded => ({
  id,
  seq,
  state: 'told',
  answer: null,
  item,
  approvals: null,
});

function told(
  { condition, priority, assignee }: { condition: QuestionKind; priority: Priority; assignee: string },
  message: string,
  at: number,
): Folded['item'] {
  return {
    kind: condition,
    message,
    choices: [],
    show: null,
    form: null,
    assignee,
    priority,
    askedAt: at,
    expiresAt: null,
    digest: null,
  };
}

function upsert(add: (value: unknown) => string, handle: string, rows: readonly Folded[]): string {
  const values = rows.map(({ id, seq, state, answer, item, approvals }) => ({
    ...item,
    id,
    seq,
    state,
    answer,
    approvers: item?.approvers?.of.map(withoutNul) ?? [],
    atLeast: item?.approvers?.atLeast ?? 1,
    approvals: approvals ?? [],
    reminders: item?.reminders ?? 0,
    message: withoutNul(item?.message ?? ''),
    assignee: withoutNul(item?.assignee ?? ''),
  }));
  return `insert into inbox (handle, id, seq, persona, kind, message, priority, choices, show, form, digest, asked_at, expires_at, state, answer, approvers, at_least, approvals, reminders)
    select ${add(handle)}, q.id, q.seq, q.assignee, q.kind, q.message, q.priority, q.choices, coalesce(q.show, 'null'::json), q.form, q.digest,
      to_timestamp(q."askedAt" / 1000.0), to_timestamp(q."expiresAt" / 1000.0), q.state, q.answer,
      array(select json_array_elements_text(q.approvers)), q."atLeast", q.approvals, q.reminders
    from json_to_recordset(${add(JSON.stringify(values))}::json) as q(id text, seq bigint, assignee text, kind text, message text, priority text,
      choices json, show json, form json, digest text, "askedAt" double precision, "expiresAt" double precision, state text, answer json,
      approvers json, "atLeast" integer, approvals json, reminders integer)
    on conflict (handle, id) do update set seq = excluded.seq, persona = excluded.persona, kind = excluded.kind, message = excluded.message,
      priority = excluded.priority, choices = excluded.choices, show = excluded.show, form = excluded.form, digest = excluded.digest,
      asked_at = excluded.asked_at, expires_at = excluded.expires_at, state = excluded.state, answer = excluded.answer,
      approvers = excluded.approvers, at_least = excluded.at_least, approvals = excluded.approvals, reminders = excluded.reminders
    where excluded.seq > inbox.seq`;
}

function settle(add: (value: unknown) => string, handle: string, rows: readonly Folded[]): string {
  const values = rows.map(({ id, seq, state, answer, approvals }) => ({ id, seq, state, answer, approvals }));
  return `update inbox set seq = s.seq, state = s.state, answer = s.answer, approvals = coalesce(s.approvals, inbox.approvals)
    from json_to_recordset(${add(JSON.stringify(values))}::json) as s(id text, seq bigint, state text, answer json, approvals json)
    where inbox.handle = ${add(handle)} and inbox.id = s.id and s.seq > inbox.seq`;
}

interface Row extends Omit<InboxItem, 'askedAt' | 'expiresAt' | 'approvers' | 'approvals'> {
  /** None where one is asked. */
  approvers: string[];
  atLeast: number;
  approvals: Approval[];
  askedAt: Date;
  expiresAt: Date | null;
}

const COLUMNS = `inbox.handle, inbox.id, inbox.persona, inbox.kind, inbox.message, inbox.priority, inbox.choices, inbox.show, inbox.form,
  inbox.digest, inbox.asked_at as "askedAt", inbox.expires_at as "expiresAt", inbox.state, inbox.answer,
  inbox.approvers, inbox.at_least as "atLeast", inbox.approvals, inbox.reminders`;

const toItem = ({ approvers, atLeast, approvals, ...row }: Row): InboxItem => ({
  ...row,
  askedAt: row.askedAt.getTime(),
  expiresAt: row.expiresAt?.getTime() ?? null,
  ...(approvers.length === 0 ? {} : { approvers: { of: approvers, atLeast }, approvals }),
});

/** A question whose run has ended without settling it (its workflow was terminated) waits for nobody. */
const IS_WAITING = `inbox.state = 'told' or (inbox.state = 'open' and not exists (select 1 from runs where runs.handle = inbox.handle and runs.finished_at is not null))`;

const NEXT = `array_position(array['urgent', 'high', 'normal', 'low'], inbox.priority), inbox.position`;

export function inbox(database: Database): Store['inbox'] {
  return {
    async list({ persona, handle, id, project, order, limit = LIST_MAX, all = false }, session) {
      const conditions: string[] = all ? [] : [`(${IS_WAITING})`];
      const values: unknown[] = [];
      const add = (value: unknown): string => `$${values.push(value)}`;
      if (persona !== undefined) {
        const asked = add([persona].flat().map(withoutNul));
        conditions.push(`(inbox.persona = any(${asked}::text[]) or inbox.approvers && ${asked}::text[])`);
      }
      if (handle !== undefined)
        conditions.push(
          `(inbox.handle = ${add(withoutNul(handle))} or starts_with(inbox.handle, ${add(`${withoutNul(handle)}/`)}))`,
        );
      if (id !== undefined) conditions.push(`inbox.id = ${add(withoutNul(id))}`);
      if (project !== undefined)
        conditions.push(
          `exists (select 1 from runs where runs.handle = inbox.handle and runs.project = ${add(withoutNul(project))})`,
        );
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
      const text = `select ${COLUMNS} from inbox ${where} order by ${order === 'next' ? NEXT : 'inbox.position desc'} limit ${add(Math.min(limit, LIST_MAX))}`;
      const rows = await (session === undefined ? database.query<Row>(text, values) : session.read<Row>(text, values));
      return rows.map(toItem);
    },

    async open(handle) {
      const rows = await database.query<{ id: string }>(
        `select id from inbox where handle = $1 and state = 'open' order by id collate "C"`,
        [withoutNul(handle)],
      );
      return rows.map(({ id }) => id);
    },

    async clear({ persona, handle, id }, session) {
      const text = `update inbox set state = 'seen' where state = 'told' and ($1::text is null or persona = $1)
           and ($2::text is null or handle = $2) and ($3::text is null or id = $3) returning 1`;
      const values = [persona, handle, id].map((one) => (one === undefined ? null : withoutNul(one)));
      const rows = await (session === undefined ? database.query(text, values) : session.write(text, values));
      return rows.length;
    },
  };
}
