/**
 * Executions and their lines. Lines are kept in batches: the first LINES_HEAD and the latest
 * LINES_TAIL of them, so that a process may print for ever.
 *
 * Invariant: every write of the worker that holds a process names its attempt, and changes nothing
 * once another worker has taken the execution over.
 */
import type { FailureInfo } from '../../../language/failure.ts';
import type { Json } from '../../../language/json.ts';
import type { Rule } from '../../../language/model.ts';
import type { Database } from '../connection/database.ts';
import type {
  Execution,
  ExecutionLine,
  Executions,
  Holding,
  RunningExecution,
} from '../contract/execution-contract.ts';
import { FINISHED_SQL } from '../connection/riding-out.ts';
import { EXECUTION_CHANNEL, RUN_CHANNEL, type Announcer, type Listener } from '../events/wakeups.ts';

const LINES_HEAD = 1_000;
const LINES_TAIL = 19_000;
/** What an announcement that was lost costs. */
const LOOK_MS = 5_000;

const COLUMNS = `e.id, e.handle, e.key, e.request, e.rules, e.worker, e.attempt, e.pid, e.exit_code as "exitCode", e.signal, e.failure, e.lines,
  e.finished_at is null as "isRunning"`;

interface Row extends Omit<Execution, 'request' | 'rules' | 'failure'> {
  request: unknown;
  rules: unknown;
  failure: unknown;
}

/** The columns hold what this project wrote, so their types are known. */
const toExecution = ({ request, rules, failure, ...rest }: Row): Execution => ({
  ...rest,
  request: request as Json,
  rules: rules as Rule[] | null,
  failure: failure as FailureInfo | null,
});

export function executions(database: Database, announcer: Announcer, listener: Listener): Executions {
  const announce = (id: string): void => announcer.announce(EXECUTION_CHANNEL, id);
  const find = async (id: string): Promise<Execution | null> => {
    const [row] = await database.query<Row>(`select ${COLUMNS} from executions e where id = $1`, [id]);
    return row === undefined ? null : toExecution(row);
  };
  return {
    async begin({ id, handle, key, request, worker }) {
      const created = await database.query(
        `insert into executions (id, handle, key, request, worker) values ($1, $2, $3, $4::json, $5) on conflict (id) do nothing returning 1`,
        [id, handle, key, JSON.stringify(request), worker],
      );
      const execution = await find(id);
      if (execution === null)
        throw new Error(`execution ${id} was removed while it was being started; its run has ended`);
      return { execution, isNew: created.length > 0 };
    },

    find,

    async discard({ id, attempt }) {
      await database.query('delete from executions where id = $1 and attempt = $2', [id, attempt]);
    },

    ...writing(database, announce),

    async setRules(id, rules) {
      const [row] = await database.query<Row>(
        `update executions e set rules = $2::json where id = $1 returning ${COLUMNS}`,
        [id, JSON.stringify(rules)],
      );
      return row === undefined ? null : toExecution(row);
    },

    async lines(id, after) {
      const rows = await database.query<{ lines: ExecutionLine[] }>(
        'select lines from execution_lines where execution_id = $1 and n + count > $2::int + 1 order by n',
        [id, after],
      );
      return rows.flatMap((row) => row.lines).filter((line) => line.n > after);
    },

    ...keeping(database, announce),
    async hasRunEnded(handle) {
      return (await database.query(FINISHED_SQL, [handle])).length > 0;
    },
    listen: (id) => listener.listen(EXECUTION_CHANNEL, id, LOOK_MS),
    listenToRun: (handle) => listener.listen(RUN_CHANNEL, handle, LOOK_MS),
    sweep: () => sweep(database),
  };
}

type Writing = Pick<Executions, 'started' | 'append' | 'finish'>;

/** What the worker that holds a process writes of it. */
function writing(database: Database, announce: (id: string) => void): Writing {
  return {
    async started({ id, attempt }, pid) {
      const rows = await database.query(
        'update executions set pid = $3 where id = $1 and attempt = $2 and finished_at is null returning 1',
        [id, attempt, pid],
      );
      return rows.length > 0;
    },

    async append(holding, lines) {
      const appended = await append(database, holding, lines);
      announce(holding.id);
      return appended;
    },

    async finish({ id, attempt }, { exitCode, signal, failure }) {
      await database.query(
        `update executions set exit_code = $3, signal = $4, failure = $5::json, finished_at = clock_timestamp()
         where id = $1 and attempt = $2 and finished_at is null`,
        [id, attempt, exitCode, signal, failure === undefined ? null : JSON.stringify(failure)],
      );
      announce(id);
    },
  };
}

async function append(
  database: Database,
  { id, attempt }: Holding,
  lines: readonly ExecutionLine[],
): Promise<{ rules: Rule[] } | null> {
  const first = lines[0]?.n ?? 0;
  const last = lines.at(-1)?.n ?? 0;
  const [row] = await database.query<{ rules: unknown }>(
    `with held as (
       update executions set lines = greatest(lines, $4::int), seen_at = clock_timestamp()
       where id = $1 and attempt = $2 and finished_at is null returning lines, rules),
     added as (
       insert into execution_lines (execution_id, n, count, lines) select $1, $3::int, $4::int - $3::int + 1, $5::json from held
       on conflict (execution_id, n) do nothing),
     trimmed as (
       delete from execution_lines l using held
       where l.execution_id = $1 and l.n > ${LINES_HEAD} and l.n + l.count <= held.lines - ${LINES_TAIL})
     select rules from held`,
    [id, attempt, first, last, JSON.stringify(lines)],
  );
  return row === undefined ? null : { rules: (row.rules as Rule[] | null) ?? [] };
}

type Keeping = Pick<Executions, 'renew' | 'running' | 'takeOver' | 'release'>;

function keeping(database: Database, announce: (id: string) => void): Keeping {
  return {
    async renew(holdings) {
      if (holdings.length === 0) return [];
      return database.query<Holding>(
        `update executions e set seen_at = clock_timestamp() from unnest($1::text[], $2::int[]) as held(id, attempt)
         where e.id = held.id and e.attempt = held.attempt returning e.id, e.attempt`,
        [holdings.map(({ id }) => id), holdings.map(({ attempt }) => attempt)],
      );
    },

    async running() {
      const rows = await database.query<Row & Pick<RunningExecution, 'silentMs' | 'hasRunEnded'>>(
        `select ${COLUMNS}, (extract(epoch from clock_timestamp() - e.seen_at) * 1000)::bigint as "silentMs", r.finished_at is not null as "hasRunEnded"
         from executions e join runs r using (handle) where e.finished_at is null`,
        [],
      );
      return rows.map((row) => ({ ...row, ...toExecution(row) }));
    },

    async takeOver({ id, attempt }, worker) {
      const [row] = await database.query<Row>(
        `with mine as (
           update executions e set attempt = attempt + 1, worker = $3, pid = null, lines = 0, seen_at = clock_timestamp()
           where id = $1 and attempt = $2 and finished_at is null returning ${COLUMNS}),
         forgotten as (delete from execution_lines l using mine where l.execution_id = mine.id)
         select * from mine`,
        [id, attempt, worker],
      );
      if (row === undefined) return null;
      announce(id);
      return toExecution(row);
    },

    async release({ id, attempt }) {
      await database.query(
        `update executions set worker = '', seen_at = 'epoch' where id = $1 and attempt = $2 and finished_at is null`,
        [id, attempt],
      );
    },
  };
}

async function sweep(database: Database): Promise<void> {
  await database.query(
    `with old as (
       delete from executions e using runs r where e.handle = r.handle and r.finished_at < now() - interval '1 day' returning e.id)
     delete from execution_lines l using old where l.execution_id = old.id`,
    [],
  );
}
