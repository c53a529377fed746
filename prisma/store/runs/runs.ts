/** Rows of runs. Their state is written with their events (run-projection.ts), never here. */
import { LRUCache } from 'lru-cache';
import type { NewRun, Run, RunContext, RunQuery, Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { toRun, type RunRow } from './run-row.ts';

const LIST_DEFAULT = 100;
const LIST_MAX = 10_000;
const CONTEXTS_MAX = 10_000;

const COLUMNS = `handle, name, definition_hash as "definitionHash", project, persona, parent, started_by as "startedBy", inputs, status, outcome,
  "limit", failure, outputs, iterations, started_at as "startedAt", finished_at as "finishedAt"`;

export function runs(database: Database): Omit<Store['runs'], 'asked'> {
  const known = contexts(database);
  return {
    create: (run, sinceSeq) => created(database, run, sinceSeq),

    async discard(handle) {
      known.forget(handle);
      await database.query(
        'delete from runs where handle = $1 and not exists (select 1 from run_events where handle = $1)',
        [handle],
      );
      await database.query('delete from replays where root = $1', [handle]);
    },

    async find(handle) {
      const [row] = await database.query<RunRow>(`select ${COLUMNS} from runs where handle = $1`, [withoutNul(handle)]);
      return row === undefined ? null : toRun(row);
    },

    list: (query) => listed(database, query),

    beginningWith: (beginning, limit) => beginningSo(database, beginning, limit),

    nested: (handle, key) => nestedIn(database, handle, key),

    underWayBelow: (handle) => underWayIn(database, handle),

    pausedBelow: (handles) => pausedIn(database, handles),

    claim: (handle, execution) => claimed(database, handle, execution),

    projectsAtWork: () => projectsAtWork(database),
    async claimNested(handle, execution) {
      await database.query('update runs set first_execution = $2 where handle = $1', [withoutNul(handle), execution]);
    },

    context: known.find,
    remember: known.remember,
  };
}

async function created(database: Database, run: NewRun, sinceSeq?: number): Promise<boolean> {
  const rows = await database.query(
    `insert into runs (handle, name, definition_hash, project, persona, parent, inputs, started_at, started_by, since_seq)
     values ($1, $2, $3, $4, $5, $6, $7::json, $8, $9,
       coalesce($10::bigint, latest_event_seq()))
     on conflict (handle) do nothing returning 1`,
    [
      run.handle,
      withoutNul(run.name),
      run.definitionHash,
      withoutNul(run.project),
      withoutNul(run.persona),
      run.parent,
      JSON.stringify(run.inputs),
      new Date(run.startedAt),
      run.startedBy ?? 'person',
      sinceSeq ?? null,
    ],
  );
  return rows.length > 0;
}

const LISTED_BY = {
  status: 'status',
  outcome: 'outcome',
  persona: 'persona',
  name: 'name',
  project: 'project',
  startedBy: 'started_by',
} as const satisfies { [Field in keyof RunQuery]: string };

async function listed(database: Database, query: RunQuery): Promise<Run[]> {
  const { limit = LIST_DEFAULT, since, isNested } = query;
  const values: unknown[] = [];
  const add = (value: unknown): string => `$${values.push(value)}`;
  const conditions = Object.entries(LISTED_BY).flatMap(([field, column]) => {
    const value = query[field as keyof typeof LISTED_BY];
    return value === undefined ? [] : [`${column} = ${add(withoutNul(value))}`];
  });
  if (since !== undefined) conditions.push(`started_at >= ${add(new Date(since))}`);
  if (isNested === false) conditions.push('parent is null');
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const rows = await database.query<RunRow>(
    `select ${COLUMNS} from runs ${where} order by started_at desc, handle limit ${add(Math.min(limit, LIST_MAX))}`,
    values,
  );
  return rows.map(toRun);
}

async function beginningSo(database: Database, beginning: string, limit: number): Promise<string[]> {
  const rows = await database.query<{ handle: string }>(
    `select handle from runs where parent is null and starts_with(handle, $1) order by started_at desc, handle limit $2`,
    [withoutNul(beginning), limit],
  );
  return rows.map((row) => row.handle);
}

/** What never changes of a run is read once. */
function contexts(database: Database): {
  find: Store['runs']['context'];
  remember: Store['runs']['remember'];
  forget(handle: string): void;
} {
  const known = new LRUCache<string, RunContext>({ max: CONTEXTS_MAX });
  const asking = new Map<string, Promise<RunContext | null>>();
  const lookUp = async (handle: string): Promise<RunContext | null> => {
    const [context] = await database.query<RunContext>(
      'select handle, project, persona, definition_hash as "definitionHash" from runs where handle = $1',
      [withoutNul(handle)],
    );
    if (context !== undefined) known.set(handle, context);
    return context ?? null;
  };
  return {
    async find(handle) {
      const found = known.get(handle);
      if (found !== undefined) return found;
      // The steps of a fan ask together, and are answered by one query.
      const asked = asking.get(handle) ?? lookUp(handle).finally(() => asking.delete(handle));
      asking.set(handle, asked);
      return asked;
    },
    remember: (context) => known.set(context.handle, context),
    forget: (handle) => known.delete(handle),
  };
}

async function nestedIn(database: Database, handle: string, key: string | undefined): Promise<string[]> {
  const step = key === undefined ? null : `${withoutNul(handle)}/${withoutNul(key)}`;
  const rows = await database.query<{ handle: string }>(
    `select handle from runs where parent = $1 and ($2::text is null or handle = $2 or starts_with(handle, $2 || '#')) order by started_at, handle`,
    [withoutNul(handle), step],
  );
  return rows.map((row) => row.handle);
}

async function underWayIn(database: Database, handle: string): Promise<string[]> {
  const rows = await database.query<{ handle: string }>(
    `select handle from runs where finished_at is null and starts_with(handle, $1 || '/') order by length(handle), handle`,
    [withoutNul(handle)],
  );
  return rows.map((row) => row.handle);
}

/** By the status, of which there is an index. What an event starts waits for its worker, too. */
async function projectsAtWork(database: Database): Promise<string[]> {
  const rows = await database.query<{ project: string }>(
    `select project from runs where status in ('running', 'paused') and finished_at is null
     union select t.project from trigger_starts s join triggers t on t.id = s.trigger_id where s.state = 'waiting'`,
    [],
  );
  return rows.map((row) => row.project);
}

async function claimed(database: Database, handle: string, execution: string): ReturnType<Store['runs']['claim']> {
  const [row] = await database.query<{ execution: string | null; parent: string | null }>(
    `update runs set first_execution = case when parent is null and finished_at is null
       then coalesce(first_execution, $2) else first_execution end
     where handle = $1 returning first_execution as execution, parent`,
    [withoutNul(handle), execution],
  );
  return row ?? null;
}

function pausedIn(database: Database, handles: readonly string[]): ReturnType<Store['runs']['pausedBelow']> {
  return database.query(
    `select runs.handle, runs.name, given.handle as around from runs
     join unnest($1::text[]) as given(handle) on starts_with(runs.handle, given.handle || '/')
     where runs.status = 'paused' order by runs.started_at desc, runs.handle, given.handle`,
    [handles.map((handle) => withoutNul(handle))],
  );
}
