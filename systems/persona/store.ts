/**
 * Personas: those with an entry, and all who own a run.
 *
 * - P1 A persona without an entry is a person, from its first run on. One who gives trust before that has an entry.
 * - P2 A model has an entry, which only a person makes, and only for an id that no run has used.
 */
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
}

interface Row extends Omit<Persona, 'madeAt'> {
  madeAt: Date | null;
}

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

const COLUMNS = `k.id, k.kind, k.made_by as "madeBy", k.made_at as "madeAt",
  (select count(*)::integer from runs where runs.persona = k.id) as runs,
  (select count(*)::integer from runs where runs.persona = k.id and runs.status in ('running', 'paused')) as "underWay"`;

const toPersona = ({ madeAt, ...row }: Row): Persona => ({ ...row, madeAt: madeAt?.getTime() ?? null });

/** Of one id, or all by id. */
export async function personas(context: Context, id: string | null = null): Promise<Persona[]> {
  const rows = await context.tx.query<Row>(
    `${KNOWN} select ${COLUMNS} from known k
     where ($1::text is null or k.id = $1)
       and ($2::text is null or exists (select 1 from runs where runs.persona = k.id and runs.project = $2))
     order by k.id collate "C"`,
    [id, projectOfModel(context)],
  );
  return rows.map(toPersona);
}

/** False where there is such a persona. */
export async function makeModel({ tx }: Context, id: string, by: string): Promise<boolean> {
  const rows = await tx.query(
    `insert into persona_entries (id, kind, made_by)
     select $1, 'model', $2 where not exists (select 1 from runs where persona = $1)
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
