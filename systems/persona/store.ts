/**
 * Personas: those with an entry, and all who own a run.
 *
 * - P1 A persona without an entry is a person, from its first run on. One who gives trust before that has an entry.
 * - P2 A model has an entry, which only a person makes, and only for an id that no run has used.
 */
import { defined } from '../../language/defined.ts';
import { zoneIn } from '../../language/references/times.ts';
import { dayAt } from '../../language/references/days.ts';
import type { DayBudget } from '../../prisma/store/contract/persona-contract.ts';
import { projectOfModel } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';

export interface Persona {
  id: string;
  kind: 'human' | 'model';
  /** Who made the entry, and when; null for a person without one. */
  madeBy: string | null;
  madeAt: number | null;
  /** Runs that it owns, and those of them that have not ended. */
  runs: number;
  underWay: number;
  /** Questions that wait for its answer: those that name it, and those of its own runs that name nobody. */
  asked: number;
  /** Runs that may be at work at the same time; null: any number. */
  places: number | null;
  /** What its runs may use in a day; null: any amount. */
  budget: Budget | null;
  /** Runs that have a place, and those that wait for one. */
  atWork: number;
  waiting: number;
}

/** Null within: any amount. `used`: of today, which lasts until `until`, in milliseconds since the epoch. */
export type Budget = {
  usd: number | null;
  tokens: number | null;
  steps: number | null;
  timeZone: string;
  used: { usd: number; tokens: number; steps: number };
  until: number;
};

interface Row extends Omit<Persona, 'madeAt' | 'budget'> {
  madeAt: Date | null;
  budget: DayBudget | null;
}

const SHOWN_MAX = 100;

/** By the index of runs, an owner a look. What systems do in the background has a "/" in its name, and is nobody. */
const OWNERS = `
  with recursive owner as (
    (select persona from runs order by persona limit 1)
    union all
    select (select runs.persona from runs where runs.persona > owner.persona order by runs.persona limit 1)
    from owner where owner.persona is not null
  )`;

const KNOWN = `${OWNERS}, known as (
    select coalesce(e.id, o.persona) as id, coalesce(e.kind, 'human') as kind, e.made_by, e.made_at
    from (select persona from owner where persona is not null and position('/' in persona) = 0) o
      full join persona_entries e on e.id = o.persona
  )`;

const inPlaces = (isTaken: boolean): string => `(select count(*)::integer
    from leases l join lease_places p on p.lease_id = l.id join runs r on r.handle = p.handle
    where l.kind = 'persona' and l.name = k.id and r.finished_at is null and p.taken_at is ${isTaken ? 'not ' : ''}null)`;

const COLUMNS = `k.id, k.kind, k.made_by as "madeBy", k.made_at as "madeAt",
  (select count(*)::integer from runs where runs.persona = k.id) as runs,
  (select count(*)::integer from runs where runs.persona = k.id and runs.status in ('running', 'paused')) as "underWay",
  (select count(*)::integer from inbox i where (i.persona = k.id or i.approvers @> array[k.id]) and i.state = 'open'
    and not exists (select 1 from runs r where r.handle = i.handle and r.finished_at is not null)) as asked,
  (select places from limits_of_personas where persona = k.id) as places,
  (select json_build_object('usd', usd_a_day, 'tokens', tokens_a_day, 'steps', steps_a_day, 'timeZone', time_zone)
    from limits_of_personas where persona = k.id and time_zone is not null
      and coalesce(usd_a_day, tokens_a_day, steps_a_day) is not null) as budget,
  ${inPlaces(true)} as "atWork", ${inPlaces(false)} as waiting`;

async function toPersonas(context: Context, rows: readonly Row[]): Promise<Persona[]> {
  const days = rows.flatMap(({ id, budget }) =>
    budget === null ? [] : [{ persona: id, day: dayAt(context.now(), budget.timeZone) }],
  );
  const uses = await context.store.personaDays.usedByEach(days);
  const found = new Map(days.map(({ persona, day }, at) => [persona, { day, used: uses[at] }]));
  return rows.map(({ madeAt, budget, ...row }) => {
    const known = { ...row, madeAt: madeAt?.getTime() ?? null };
    const { day, used } = found.get(row.id) ?? {};
    if (budget === null || day === undefined || used === undefined) return { ...known, budget: null };
    return { ...known, budget: { ...budget, used: { ...used }, until: day.until } };
  });
}

/** Of one id, or all by id. */
export async function personas(context: Context, id: string | null = null): Promise<Persona[]> {
  const rows = await context.tx.query<Row>(
    `${KNOWN} select ${COLUMNS} from known k
     where ($1::text is null or k.id = $1)
       and ($2::text is null or exists (select 1 from runs where runs.persona = k.id and runs.project = $2))
     order by k.id collate "C"`,
    [id, projectOfModel(context)],
  );
  return toPersonas(context, rows);
}

/** The runs that wait for a place, in the order of their turns. */
export async function waitingRuns({ tx }: Context, id: string): Promise<string[]> {
  const rows = await tx.query<{ handle: string }>(
    `select p.handle from leases l join lease_places p on p.lease_id = l.id join runs r on r.handle = p.handle
     where l.kind = 'persona' and l.name = $1 and r.finished_at is null and p.taken_at is null
     order by p.since, p.nth limit $2`,
    [id, SHOWN_MAX],
  );
  return rows.map(({ handle }) => handle);
}

/** What runs of a persona may do; null: any amount. */
export interface Limits {
  places?: number | null | undefined;
  budgetUsd?: number | null | undefined;
  budgetTokens?: number | null | undefined;
  budgetSteps?: number | null | undefined;
  timeZone?: string | undefined;
}

const LIMIT_COLUMNS = {
  places: 'places',
  budgetUsd: 'usd_a_day',
  budgetTokens: 'tokens_a_day',
  budgetSteps: 'steps_a_day',
  timeZone: 'time_zone',
} as const satisfies Record<keyof Limits, string>;

/** What is not said stays as it is. Without a time zone, the days of a budget are those of this machine. */
export async function setLimits({ tx }: Context, id: string, by: string, limits: Limits): Promise<void> {
  const { timeZone = null } = limits;
  const zone = timeZone === null ? undefined : (zoneIn(timeZone) ?? timeZone);
  const said = Object.entries(defined({ ...limits, timeZone: zone })).map(
    ([limit, value]) => [LIMIT_COLUMNS[limit as keyof Limits], value] as const,
  );
  const columns = said.map(([column]) => column);
  await tx.query(
    `insert into limits_of_personas as l (${['persona', 'set_by', ...columns].join(', ')})
     values (${['$1', '$2', ...columns.map((_, at) => `$${at + 3}`)].join(', ')})
     on conflict (persona) do update
       set set_at = current_timestamp, ${['set_by', ...columns].map((column) => `${column} = excluded.${column}`).join(', ')}`,
    [id, by, ...said.map(([, value]) => value)],
  );
  await tx.query(
    `update limits_of_personas set time_zone = $2
     where persona = $1 and time_zone is null and coalesce(usd_a_day, tokens_a_day, steps_a_day) is not null`,
    [id, Intl.DateTimeFormat().resolvedOptions().timeZone],
  );
}

/** The runs that wait until there is budget again. */
export async function runsWithoutBudget({ tx }: Context, id: string, max = SHOWN_MAX): Promise<string[]> {
  const rows = await tx.query<{ handle: string }>(
    `select w.handle from waits_for_days w join runs r on r.handle = w.handle
     where w.persona = $1 and r.finished_at is null order by w.since, w.handle limit $2`,
    [id, max],
  );
  return rows.map(({ handle }) => handle);
}

/** False where there is such a persona. */
export async function makeModel({ tx }: Context, id: string, by: string): Promise<boolean> {
  const rows = await tx.query(
    `insert into persona_entries (id, kind, made_by)
     select $1, 'model', $2 where not exists (select 1 from runs where persona = $1)
       and not exists (select 1 from persona_members where $1 in (group_id, member))
     on conflict (id) do nothing returning 1`,
    [id, by],
  );
  return rows.length > 0;
}

/** A person who acts is a persona, with or without a run. */
export async function makeHuman({ tx }: Context, id: string): Promise<void> {
  await tx.query(
    `insert into persona_entries (id, kind, made_by) select $1, 'human', $1
     where not exists (select 1 from runs where persona = $1) on conflict (id) do nothing`,
    [id],
  );
}

/** Whom it trusts, and who trusts it. */
export async function trustOf({ tx }: Context, id: string): Promise<{ trusts: string[]; trustedBy: string[] }> {
  const rows = await tx.query<{ persona: string; trusts: string }>(
    'select persona, trusts from persona_trust where persona = $1 or trusts = $1 order by persona collate "C", trusts collate "C"',
    [id],
  );
  return {
    trusts: rows.filter(({ persona }) => persona === id).map(({ trusts }) => trusts),
    trustedBy: rows.filter(({ trusts }) => trusts === id).map(({ persona }) => persona),
  };
}

export async function setTrust(
  { tx }: Context,
  { persona, trusts, by, isGiven }: { persona: string; trusts: string; by: string; isGiven: boolean },
): Promise<void> {
  if (isGiven)
    await tx.query(
      'insert into persona_trust (persona, trusts, given_by) values ($1, $2, $3) on conflict (persona, trusts) do nothing',
      [persona, trusts, by],
    );
  else await tx.query('delete from persona_trust where persona = $1 and trusts = $2', [persona, trusts]);
}

export async function membersOf({ tx }: Context, group: string): Promise<string[]> {
  const rows = await tx.query<{ member: string }>(
    'select member from persona_members where group_id = $1 order by member collate "C"',
    [group],
  );
  return rows.map(({ member }) => member);
}

export async function setMember(
  { tx }: Context,
  { group, member, by, isMember }: { group: string; member: string; by: string; isMember: boolean },
): Promise<void> {
  if (isMember)
    await tx.query(
      'insert into persona_members (group_id, member, added_by) values ($1, $2, $3) on conflict (group_id, member) do nothing',
      [group, member, by],
    );
  else await tx.query('delete from persona_members where group_id = $1 and member = $2', [group, member]);
}

/** `forMs`: for so long; null: until it is ended. */
export async function setDelegate(
  { tx }: Context,
  { persona, delegate, forMs, isGiven }: { persona: string; delegate: string; forMs: number | null; isGiven: boolean },
): Promise<void> {
  if (isGiven)
    await tx.query(
      `insert into persona_delegates (persona, delegate, until)
       values ($1, $2, clock_timestamp() + $3::double precision * interval '1 millisecond')
       on conflict (persona, delegate) do update set until = excluded.until`,
      [persona, delegate, forMs],
    );
  else await tx.query('delete from persona_delegates where persona = $1 and delegate = $2', [persona, delegate]);
}

/** For whom somebody answers, themselves first: under which name one is asked, and whose answer it then is. */
export async function voicesOf({ tx }: Context, id: string): Promise<{ among: string; person: string }[]> {
  const rows = await tx.query<{ among: string; person: string }>(
    `with persons as (
       select $1::text as person, 0 as rank
       union all
       select persona, 1 from persona_delegates where delegate = $1 and (until is null or until > clock_timestamp())
     ), voices as (
       select person as among, person, rank from persons
       union all
       select m.group_id, p.person, p.rank from persons p join persona_members m on m.member = p.person
       union all
       select e.id, $1, 0 from persona_entries e where e.kind = 'model' and e.made_by = $1
     )
     select among, person from voices
     where not exists (select 1 from persona_entries e where e.id = $1 and e.kind = 'model')
       and not exists (select 1 from persona_members m where m.group_id = $1)
     order by rank, (among = person) desc, among collate "C", person collate "C"`,
    [id],
  );
  return rows;
}

/** What a persona that is a model may answer, as a person has granted it. */
export async function grantsOf({ tx }: Context, persona: string): Promise<string[]> {
  const rows = await tx.query<{ may: string }>(
    'select may from persona_grants where persona = $1 order by may collate "C"',
    [persona],
  );
  return rows.map(({ may }) => may);
}

export async function setGrant(
  { tx }: Context,
  { persona, may, by, isGiven }: { persona: string; may: string; by: string; isGiven: boolean },
): Promise<void> {
  if (isGiven)
    await tx.query(
      'insert into persona_grants (persona, may, granted_by) values ($1, $2, $3) on conflict (persona, may) do nothing',
      [persona, may, by],
    );
  else await tx.query('delete from persona_grants where persona = $1 and may = $2', [persona, may]);
}
