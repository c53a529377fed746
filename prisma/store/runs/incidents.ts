/**
 * What went wrong in runs, in words. Rows are folded from events and written by the statement that stores
 * these, by (handle, seq): an event that is written again changes nothing.
 */
import { HELD_BACK } from '../../../language/held-back.ts';
import type { Answer, Question } from '../../../language/events/question.ts';
import type { RunEvent, StepFinished } from '../../../language/events/run-event.ts';
import type { Incident, IncidentKind, Incidents } from '../contract/incident-contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;
const TEXT_MAX = 4_000;

interface Found extends Omit<Incident, 'handle' | 'name'> {
  question: string | null;
  /** Says again what a step within has failed of, where one has. */
  isEcho: boolean;
}

interface Settled {
  question: string;
  seq: number;
  outcome: string;
}

export interface FoldedIncidents {
  found: Found[];
  /** Answers to questions that were asked before. */
  settled: Settled[];
}

const OUTCOMES: { readonly [outcome: string]: string } = {
  failed: 'the step failed',
  retried: 'it was tried again',
  skipped: 'the step was skipped',
};

/** A step that holds others fails of what one of these failed of. */
const HOLDING: ReadonlySet<string> = new Set(['condition', 'loop', 'parallel']);
const STUCK = /(?:^|_)STUCK(?:_|$)|^MODEL_CALLS_WRONG$/;

/** What events in the order of `seq` say that went wrong, and what became of it. */
export function foldedIncidents(events: readonly RunEvent[]): FoldedIncidents {
  const folded: FoldedIncidents = { found: [], settled: [] };
  for (const event of events) {
    const outcome = settledBy(event);
    if (outcome !== null) settle(folded, outcome);
    const found = foundIn(event, folded.found);
    if (found !== null) folded.found.push(found);
  }
  return folded;
}

function foundIn(event: RunEvent, before: readonly Found[]): Found | null {
  const { seq, key, at } = event;
  const own = { seq, key, at, question: null, action: null, isEcho: false };
  switch (event.type) {
    case 'step-finished':
      return failedStep(event, before);
    case 'asked':
      return asked(event.question, { ...own });
    case 'notified':
      return {
        ...own,
        kind: 'escalation',
        code: event.condition,
        message: event.message,
        outcome: `${event.assignee} was told`,
      };
    case 'warning':
      return STUCK.test(event.code)
        ? { ...own, kind: 'stuck', code: event.code, message: event.message, outcome: 'it went on' }
        : null;
    case 'run-finished': {
      const { failure, limit } = event;
      const outcome = `the run ${event.outcome}`;
      if (failure !== undefined)
        return isKnown(failure, before)
          ? null
          : { ...own, kind: kindOf(failure.code), code: failure.code, message: failure.message, outcome, isEcho: true };
      if (limit === undefined || limit === 'stop') return null;
      return { ...own, kind: 'limit', code: limit, message: `the run reached its limit ${limit}`, outcome };
    }
    case 'run-started':
    case 'step-started':
    case 'pass-finished':
    case 'paused':
    case 'resumed':
    case 'answered':
    case 'approved':
    case 'reminded':
    case 'expired':
    case 'withdrawn':
    case 'edited':
    case 'compacted':
    case 'told':
    case 'heard':
    case 'group':
      return null;
    default:
      return event satisfies never;
  }
}

const kindOf = (code: string): IncidentKind => (STUCK.test(code) ? 'stuck' : 'failure');

const isKnown = ({ code, message }: { code: string; message: string }, before: readonly Found[]): boolean =>
  before.some((one) => one.code === code && one.message === message);

function failedStep(event: StepFinished, before: readonly Found[]): Found | null {
  const { seq, key, at, failure, step, outcome, action, label } = event;
  const isEcho = HOLDING.has(step);
  // It waits for its turn.
  if (failure !== undefined && HELD_BACK.has(failure.code)) return null;
  if (failure === undefined || (isEcho && isKnown(failure, before))) return null;
  return {
    seq,
    key,
    at,
    question: null,
    isEcho,
    kind: kindOf(failure.code),
    code: failure.code,
    message: failure.message,
    action: action === undefined || action === label ? label : `${label}: ${action}`,
    outcome: OUTCOMES[outcome] ?? outcome,
  };
}

/** What a definition asks by a step of its own is no incident. */
function asked({ id, kind, message, show }: Question, own: Pick<Found, 'seq' | 'key' | 'at' | 'isEcho'>): Found | null {
  if (kind === 'approval' || kind === 'action') return null;
  const of = id.startsWith('limit.') ? 'limit' : id.endsWith(':stuck') ? 'stuck' : 'escalation';
  const said = show === null ? null : JSON.stringify(show);
  return { ...own, question: id, kind: of, code: of === 'limit' ? id : kind, message, action: said, outcome: null };
}

function settledBy(event: RunEvent): Settled | null {
  if (event.type === 'answered') return { question: event.id, seq: event.seq, outcome: answerWords(event.answer) };
  if (event.type === 'expired') return { question: event.id, seq: event.seq, outcome: 'nobody answered in time' };
  if (event.type === 'withdrawn') return { question: event.id, seq: event.seq, outcome: 'the question was withdrawn' };
  return null;
}

const answerWords = ({ choice, by, note }: Answer): string =>
  `${by} answered ${choice}${note === null || note === '' ? '' : `: ${note}`}`;

function settle({ found, settled }: FoldedIncidents, outcome: Settled): void {
  const open = found.find((one) => one.question === outcome.question && one.outcome === null);
  if (open === undefined) settled.push(outcome);
  else open.outcome = outcome.outcome;
}

/** The parts of the statement that stores a batch of events in the order of `seq`. */
export function incidentStatements(
  add: (value: unknown) => string,
  handle: string,
  events: readonly RunEvent[],
): string[] {
  const { found, settled } = foldedIncidents(events);
  const started = events.find((event) => event.type === 'run-started');
  return [
    ...(found.length === 0 ? [] : [insertion(add, handle, found, started?.name ?? null)]),
    ...(settled.length === 0 ? [] : [settlement(add, handle, settled)]),
  ];
}

const shown = (text: string): string => withoutNul(text.slice(0, TEXT_MAX));
const shownOrNull = (text: string | null): string | null => (text === null ? null : shown(text));

function insertion(
  add: (value: unknown) => string,
  handle: string,
  found: readonly Found[],
  name: string | null,
): string {
  const run = add(handle);
  const columns = [
    `${add(found.map(({ seq }) => seq))}::bigint[]`,
    `${add(found.map(({ key }) => withoutNul(key)))}::text[]`,
    `${add(found.map(({ kind }) => kind))}::text[]`,
    `${add(found.map(({ code }) => shown(code)))}::text[]`,
    `${add(found.map(({ message }) => shown(message)))}::text[]`,
    `${add(found.map(({ action }) => shownOrNull(action)))}::text[]`,
    `${add(found.map(({ outcome }) => shownOrNull(outcome)))}::text[]`,
    `${add(found.map(({ question }) => shownOrNull(question)))}::text[]`,
    `${add(found.map(({ at }) => at))}::double precision[]`,
    `${add(found.map(({ isEcho }) => isEcho))}::boolean[]`,
  ].join(', ');
  return `insert into incidents (handle, seq, name, key, kind, code, message, action, outcome, question, at)
    select ${run}, i.seq, coalesce(${add(name === null ? null : withoutNul(name))}::text, (select name from runs where handle = ${run}), ''),
      i.key, i.kind, i.code, i.message, i.action, i.outcome, i.question, to_timestamp(i.at / 1000.0)
    from unnest(${columns}) as i(seq, key, kind, code, message, action, outcome, question, at, is_echo)
    where not i.is_echo or not exists (select 1 from incidents b where b.handle = ${run} and b.seq < i.seq and b.code = i.code and b.message = i.message)
    on conflict (handle, seq) do update set outcome = coalesce(excluded.outcome, incidents.outcome)`;
}

function settlement(add: (value: unknown) => string, handle: string, settled: readonly Settled[]): string {
  const columns = [
    `${add(settled.map(({ question }) => shown(question)))}::text[]`,
    `${add(settled.map(({ seq }) => seq))}::bigint[]`,
    `${add(settled.map(({ outcome }) => shown(outcome)))}::text[]`,
  ].join(', ');
  return `update incidents set outcome = s.outcome from unnest(${columns}) as s(question, seq, outcome)
    where incidents.handle = ${add(handle)} and incidents.question = s.question and incidents.seq < s.seq and incidents.outcome is null`;
}

/** The words of the question, any of which will do; null where it has none that say anything. */
const ASKED = `select (string_agg('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''', ' | '))::tsquery as query
  from unnest(to_tsvector('english', $1 || ' ' || regexp_replace($1, '[^[:alnum:]]+', ' ', 'g')))`;

interface Row extends Omit<Incident, 'at'> {
  at: Date;
}

export function incidents(database: Database): Incidents {
  return {
    async find({ about, handle, kind, persona, since, limit = LIMIT_DEFAULT }) {
      const order = about === undefined ? '' : 'ts_rank(i.words, asked.query) desc,';
      const rows = await database.query<Row>(
        `with asked as (${about === undefined ? 'select $1::tsquery as query' : ASKED})
         select i.handle, i.seq::float8 as seq, i.name, i.key, i.kind, i.code, i.message, i.action, i.outcome, i.at
         from asked cross join incidents i left join runs r on r.handle = i.handle
         where ${about === undefined ? 'true' : 'i.words @@ asked.query'}
           and ($2::text is null or i.handle = $2 or starts_with(i.handle, $2 || '/'))
           and ($3::text is null or i.kind = $3) and ($4::text is null or r.persona = $4)
           and ($5::timestamptz is null or i.at >= $5)
         order by ${order} i.at desc, i.handle, i.seq desc limit $6`,
        [
          about === undefined ? null : withoutNul(about),
          handle === undefined ? null : withoutNul(handle),
          kind ?? null,
          persona === undefined ? null : withoutNul(persona),
          since === undefined ? null : new Date(since),
          Math.min(limit, LIMIT_MAX),
        ],
      );
      return rows.map((row) => ({ ...row, at: row.at.getTime() }));
    },
  };
}
