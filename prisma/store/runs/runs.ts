/** Rows of runs. Their state is written with their events (run-projection.ts), never here. */
import { LRUCache } from 'lru-cache';
import type { FailureInfo } from '../../../language/failure.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { RunOutcome, RunStatus } from '../../../language/events/run-event.ts';
import type { AskedRuns, NewRun, Run, RunContext, RunQuery, RunStarter, Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { LazyPrisma } from '../connection/prisma-client.ts';

const LIST_DEFAULT = 100;
const LIST_MAX = 10_000;
const CONTEXTS_MAX = 10_000;

const COLUMNS = `handle, name, definition_hash as "definitionHash", project, persona, parent, started_by as "startedBy", inputs, status, outcome,
  "limit", failure, outputs, iterations, started_at as "startedAt", finished_at as "finishedAt"`;

interface Row {
  handle: string;
  name: string;
  definitionHash: string;
  project: string;
  persona: string;
  parent: string | null;
  startedBy: string;
  inputs: unknown;
  status: string;
  outcome: string | null;
  limit: string | null;
  failure: unknown;
  outputs: unknown;
  iterations: number;
  startedAt: Date;
  finishedAt: Date | null;
}

/** The columns hold what this project wrote, so their types are known. */
function toRun(row: Row): Run {
  return {
    handle: row.handle,
    name: row.name,
    definitionHash: row.definitionHash,
    project: row.project,
    persona: row.persona,
    parent: row.parent,
    startedBy: row.startedBy as RunStarter,
    inputs: row.inputs as JsonObject,
    status: row.status as RunStatus,
    outcome: row.outcome as RunOutcome | null,
    limit: row.limit,
    failure: row.failure as FailureInfo | null,
    outputs: row.outputs as { [name: string]: Json } | null,
    iterations: row.iterations,
    startedAt: row.startedAt.getTime(),
    finishedAt: row.finishedAt?.getTime() ?? null,
  };
}

const PAGE = 100;

const ASKED = `select ${COLUMNS} from runs r
  where exists (select 1 from turns t where t.handle = r.handle)
    and ($1::text[] is null or exists (select 1 from unnest($1::text[]) as given(handle)
      where r.handle = given.handle or starts_with(r.handle, given.handle || '/')))
    and ($2::text[] is null or outcome = any($2::text[])) and ($3::text is null or name = $3)
    and ($4::timestamptz is null or started_at >= $4)
    and ($5::timestamptz is null or (started_at, r.handle) > ($5::timestamptz, $6::text))
  order by started_at, r.handle limit ${PAGE}`;

async function* askedRuns(database: Database, { handles, outcomes, name, since }: AskedRuns): AsyncGenerator<Run> {
  let last: Row | undefined;
  for (;;) {
    const rows: Row[] = await database.query<Row>(ASKED, [
      handles ?? null,
      outcomes ?? null,
      name ?? null,
      since === undefined ? null : new Date(since),
      last?.startedAt ?? null,
      last?.handle ?? null,
    ]);
    for (const row of rows) yield toRun(row);
    last = rows.at(-1);
    if (rows.length < PAGE) return;
  }
}

export function runs(database: Database, prisma: LazyPrisma): Store['runs'] {
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
      const [row] = await database.query<Row>(`select ${COLUMNS} from runs where handle = $1`, [withoutNul(handle)]);
      return row === undefined ? null : toRun(row);
    },

    list: (query) => listed(prisma, query),

    beginningWith: (beginning, limit) => beginningSo(database, beginning, limit),

    asked: (query) => askedRuns(database, query),

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

async function listed(prisma: LazyPrisma, { limit, since, isNested, ...asked }: RunQuery): Promise<Run[]> {
  const client = await prisma.get();
  const rows = await client.run.findMany({
    where: {
      ...asked,
      ...(since === undefined ? {} : { startedAt: { gte: new Date(since) } }),
      ...(isNested === false ? { parent: null } : {}),
    },
    orderBy: [{ startedAt: 'desc' }, { handle: 'asc' }],
    take: Math.min(limit ?? LIST_DEFAULT, LIST_MAX),
  });
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
