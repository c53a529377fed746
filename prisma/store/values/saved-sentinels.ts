/**
 * Saved sentinels, one row for each name of a persona in a project, with their versions beside it. What a version says is
 * a row of definitions, which no name changes.
 */
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import type { Session } from '../contract/session-contract.ts';
import type {
  SavedSentinel,
  Saving,
  Seeker,
  SentinelQuery,
  Sentinels,
  SentinelStatistics,
  SentinelVersion,
} from '../contract/sentinel-contract.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { contentHash } from './content-hash.ts';
import { jsonbText } from './record-filter.ts';

export type Ask = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** The nearest to who asks comes first; null for both asks for nobody. */
export const RANK = (persona: string, project: string): string =>
  `coalesce(s.persona = ${persona}, false) desc, coalesce(s.project = ${project}, false) desc, s.is_public desc, s.by_person desc, s.saved_at desc, s.id desc`;

const LIST_DEFAULT = 100;
const LIST_MAX = 10_000;

const DEFINED = `insert into definitions (hash, name, version, definition)
  select $1, $2, 1 + coalesce(max(version), 0), $3::json from definitions where name = $2
  on conflict (hash) do update set name = excluded.name, version = excluded.version
    where definitions.name = definitions.hash`;

const ADOPTED = `update saved_sentinels set persona = $2, project = $3
  where name = $1 and persona = '' and project = ''
    and not exists (select 1 from saved_sentinels where name = $1 and persona = $2 and project = $3)`;

const SAVED = `insert into saved_sentinels as s (name, persona, project, hash, is_public, by_person, parent_persona, tags, origin, fields, saved_at)
  values ($1, $2, $3, $4, coalesce($5::boolean, true), $6, $7, coalesce($8::text[], '{}'), $9::json, $10::jsonb, clock_timestamp())
  on conflict (name, persona, project) do update set hash = excluded.hash, fields = excluded.fields, saved_at = excluded.saved_at,
    is_public = coalesce($5::boolean, s.is_public), by_person = s.by_person or excluded.by_person,
    parent_persona = coalesce(excluded.parent_persona, s.parent_persona), tags = coalesce($8::text[], s.tags), origin = coalesce(excluded.origin, s.origin)
  where $11 or not exists (select 1 from saved_versions v where v.hash = excluded.hash and v.sentinel = s.id)`;

const VERSIONED = `insert into saved_versions as v (hash, sentinel, saved_at)
  select $1, s.id, clock_timestamp() from saved_sentinels s where s.name = $2 and s.persona = $3 and s.project = $4
  on conflict (hash, sentinel) do update set saved_at = excluded.saved_at where $5`;

/** `moves`: the name finds it also where it has been saved before. In one transaction, one writer a name at a time, so that versions count up without holes. */
export async function saveSentinel(
  ask: Ask,
  definition: Definition,
  { by, moves }: { by: Saving; moves: boolean },
): Promise<void> {
  const hash = contentHash(definition);
  const [name, persona, project] = [definition.name, by.persona, by.project].map(withoutNul);
  const { id: _id, ...fields } = definition;
  const { isPublic = null, isPerson, parentPersona = null, tags, origin } = by;
  await ask('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
  await ask(DEFINED, [hash, name, JSON.stringify(definition)]);
  if (isPerson && persona !== '') await ask(ADOPTED, [name, persona, project]);
  await ask(SAVED, [
    name,
    persona,
    project,
    hash,
    isPublic,
    isPerson,
    parentPersona,
    tags === undefined ? null : tags.map(withoutNul),
    origin === undefined ? null : JSON.stringify(origin),
    jsonbText(fields as unknown as Json),
    moves,
  ]);
  await ask(VERSIONED, [hash, name, persona, project, moves]);
}

interface Row {
  id: number;
  name: string;
  persona: string;
  project: string;
  hash: string;
  version: number;
  definition: unknown;
  tags: string[];
  isPublic: boolean;
  byPerson: boolean;
  parentPersona: string | null;
  origin: Json;
  createdAt: Date;
  savedAt: Date;
}

const COLUMNS = `s.id, s.name, s.persona, s.project, d.hash, d.version, d.definition, s.tags, s.is_public as "isPublic",
  s.by_person as "byPerson", s.parent_persona as "parentPersona", s.origin, s.created_at as "createdAt", s.saved_at as "savedAt"`;
const FROM = 'saved_sentinels s join definitions d on d.hash = s.hash';

const NONE: SentinelStatistics = { runCount: 0, successRate: null, averageDurationMs: null, lastRunAt: null };

interface StatisticsRow extends Omit<SentinelStatistics, 'lastRunAt'> {
  sentinel: number;
  lastRunAt: Date;
}

async function statisticsOf(session: Session, ids: readonly number[]): Promise<Map<number, SentinelStatistics>> {
  if (ids.length === 0) return new Map();
  const rows = await session.read<StatisticsRow>(
    `select sentinel, run_count as "runCount", success_rate as "successRate", average_ms as "averageDurationMs",
       last_run_at as "lastRunAt" from sentinel_statistics($1::bigint[])`,
    [ids],
  );
  return new Map(
    rows.map(({ sentinel, runCount, successRate, averageDurationMs, lastRunAt }) => [
      sentinel,
      {
        runCount,
        successRate,
        averageDurationMs: averageDurationMs === null ? null : Math.round(averageDurationMs),
        lastRunAt: lastRunAt.getTime(),
      },
    ]),
  );
}

async function withStatistics(session: Session, rows: readonly Row[]): Promise<SavedSentinel[]> {
  const known = await statisticsOf(
    session,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...row,
    definition: row.definition as Definition,
    createdAt: row.createdAt.getTime(),
    savedAt: row.savedAt.getTime(),
    ...(known.get(row.id) ?? NONE),
  }));
}

async function firstOf(session: Session, rows: Promise<Row[]>): Promise<SavedSentinel | null> {
  const [found = null] = await withStatistics(session, (await rows).slice(0, 1));
  return found;
}

const own = (session: Session, name: string, { persona, project }: Seeker): Promise<SavedSentinel | null> =>
  firstOf(
    session,
    session.read<Row>(
      `select ${COLUMNS} from ${FROM} where s.name = $1 and s.persona = $2 and s.project = $3 and s.saved_at is not null`,
      [name, persona, project].map(withoutNul),
    ),
  );

/** A hash finds the version of it, and not the one that the name finds. */
const find = (session: Session, nameOrHash: string, { persona, project }: Seeker): Promise<SavedSentinel | null> =>
  firstOf(
    session,
    session.read<Row>(
      `select * from (
         (select ${COLUMNS}, 0 as place from saved_versions v join saved_sentinels s on s.id = v.sentinel
          join definitions d on d.hash = v.hash where v.hash = $1 and s.saved_at is not null
          order by ${RANK('$2', '$3')} limit 1)
         union all
         (select ${COLUMNS}, 1 as place from ${FROM} where s.name = $1 and s.saved_at is not null
          order by ${RANK('$2', '$3')} limit 1)
       ) as found order by place limit 1`,
      [nameOrHash, persona, project].map(withoutNul),
    ),
  );

async function list(session: Session, query: SentinelQuery): Promise<SavedSentinel[]> {
  const { persona = null, project = null, after = null, limit = LIST_DEFAULT } = query;
  const rows = await session.read<Row>(
    `select ${COLUMNS} from ${FROM} where s.saved_at is not null and ($1::text is null or s.persona = $1)
       and ($2::text is null or s.project = $2) and ($3::text is null or s.name > $3)
     order by s.name, s.persona, s.project limit $4`,
    [...[persona, project, after].map((text) => text && withoutNul(text)), Math.min(limit, LIST_MAX)],
  );
  return withStatistics(session, rows);
}

async function versions(session: Session, id: number): Promise<SentinelVersion[]> {
  const rows = await session.read<Pick<Row, 'version' | 'hash' | 'definition' | 'savedAt'>>(
    `select d.version, d.hash, d.definition, v.saved_at as "savedAt" from saved_versions v
     join definitions d on d.hash = v.hash where v.sentinel = $1 order by d.version desc limit ${LIST_MAX}`,
    [id],
  );
  return rows.map(({ definition, savedAt, ...row }) => ({
    ...row,
    definition: definition as Definition,
    savedAt: savedAt.getTime(),
  }));
}

export const savedSentinels: Sentinels = {
  async save(session, definition, by) {
    await saveSentinel((text, values) => session.write(text, values), definition, { by, moves: true });
    const saved = await own(session, definition.name, by);
    if (saved === null) throw new Error(`bug: "${definition.name}" is not there after it was saved`);
    return saved;
  },
  find,
  own,
  list,
  versions,
};
