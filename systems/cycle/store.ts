/** The machine of a repository, as rows: read, moved along an edge, and what is shown of it. */
import type { JsonObject } from '../../language/json.ts';
import { toJsonbText, withoutNul } from '../../prisma/store/connection/jsonb-text.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Context } from '../../operations/command.ts';
import { repositoryOf } from './changesets/repository.ts';
import { type CycleContext, type Entry, INITIAL, type Machine, type Moved } from './machine/machine.ts';
import type { State } from './machine/states.ts';

/** Of the history, the latest; older ones are counted. */
const recentMax = 100;

interface Row {
  id: number;
  handle: string;
  state: State;
  is_paused: boolean;
  error: string | null;
  goal: string;
  context: JsonObject;
  changeset: string | null;
  started_at: Date;
}

export interface Cycle {
  /** Null where none is under way. */
  id: number | null;
  /** The run that it belongs to. */
  handle: string | null;
  repository: string;
  machine: Machine;
  /** How many transitions there were in the repository. */
  transitions: number;
}

export const repositoryIn = ({ run }: Pick<Context, 'run'>): string => repositoryOf(run.project);

/** `forUpdate`: nobody else moves it until this is committed. */
export async function cycleIn(context: Context, { forUpdate = false } = {}): Promise<Cycle> {
  const repository = repositoryIn(context);
  const rows = await context.tx.query<Row>(
    `select id, handle, state, is_paused, error, goal, context, changeset, started_at from cycle_cycles
     where repository = $1 and state <> 'IDLE'${forUpdate ? ' for update' : ''}`,
    [repository],
  );
  const entries = await historyOf(context, { limit: recentMax });
  const [counted] = await context.tx.query<{ transitions: number }>(
    'select count(*)::integer as transitions from cycle_transitions where repository = $1',
    [repository],
  );
  const row = rows[0];
  return {
    id: row?.id ?? null,
    handle: row?.handle ?? null,
    repository,
    machine: row === undefined ? { ...INITIAL, stateHistory: entries } : machineOf(row, entries),
    transitions: counted?.transitions ?? 0,
  };
}

const machineOf = (row: Row, stateHistory: readonly Entry[]): Machine => ({
  currentState: row.state,
  cycleContext: contextOf(row),
  stateHistory,
  isPaused: row.is_paused,
  error: row.error,
});

function contextOf({
  goal,
  context,
  changeset,
  started_at: startedAt,
}: Pick<Row, 'goal' | 'context' | 'changeset' | 'started_at'>): CycleContext {
  const kept = context as unknown as Omit<CycleContext, 'goal' | 'changeset' | 'startTime'>;
  return { ...kept, goal, changeset, startTime: startedAt.getTime() };
}

/** What of a context stands in the column of that name. */
const columnOf = ({ goal: _goal, changeset: _changeset, startTime: _at, ...kept }: CycleContext): string =>
  toJsonbText(JSON.stringify(kept));

/** In order; `cycle`: of one alone. */
export async function historyOf(
  context: Context,
  { limit, cycle = null }: { limit: number; cycle?: number | null },
): Promise<Entry[]> {
  const rows = await context.tx.query<{ from_state: State; to_state: State; at: Date; context: string | null }>(
    `select * from (
       select id, from_state, to_state, at, context from cycle_transitions
       where repository = $1 and ($2::bigint is null or cycle = $2) order by id desc limit $3
     ) as latest order by id`,
    [repositoryIn(context), cycle, limit],
  );
  return rows.map((row) => ({
    from: row.from_state,
    to: row.to_state,
    timestamp: row.at.getTime(),
    context: row.context,
  }));
}

/** The first move of a machine: its row, its history and its event, or nothing where somebody else was first. */
export async function begin(context: Context, moved: Moved): Promise<number | null> {
  const { run, tx } = context;
  const { cycleContext } = moved.machine;
  if (cycleContext === null) throw new Error('bug: a cycle begins with its context');
  const at = new Date(cycleContext.startTime);
  const [row] = await tx.query<{ id: number }>(
    `insert into cycle_cycles (repository, project, handle, persona, state, goal, context, started_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $8) on conflict do nothing returning id`,
    [
      repositoryIn(context),
      run.project,
      run.handle,
      run.persona,
      moved.machine.currentState,
      withoutNul(cycleContext.goal),
      columnOf(cycleContext),
      at,
    ],
  );
  if (row === undefined) return null;
  await note(context, row.id, moved);
  return row.id;
}

/** A move of a cycle: its row, its history and its event are there together. */
export async function keep(context: Context, id: number, moved: Moved): Promise<void> {
  await keepMachine(context, id, moved.machine);
  await note(context, id, moved);
}

/** What it is about, or that it is paused, without a move. */
export async function keepMachine(context: Context, id: number, machine: Machine): Promise<void> {
  const { currentState, isPaused, error, cycleContext } = machine;
  await context.tx.query(
    `update cycle_cycles set state = $2, is_paused = $3, error = $4, updated_at = $5,
       context = coalesce($6::jsonb, context), changeset = coalesce($7, changeset) where id = $1`,
    [
      id,
      currentState,
      isPaused,
      error === null ? null : withoutNul(error),
      new Date(context.now()),
      cycleContext === null ? null : columnOf(cycleContext),
      cycleContext?.changeset ?? null,
    ],
  );
}

async function note({ tx, ...context }: Context, id: number, { machine, event }: Moved): Promise<void> {
  const entry = machine.stateHistory.at(-1);
  if (entry === undefined || event === null) throw new Error('bug: a move has an entry and an event');
  await tx.query(
    `insert into cycle_transitions (cycle, repository, from_state, to_state, at, context)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      id,
      repositoryIn(context),
      entry.from,
      entry.to,
      new Date(entry.timestamp),
      entry.context === null ? null : withoutNul(entry.context),
    ],
  );
  await tx.publish(event.name, event.data);
}

/** The cycle that the caller moves: that of its own run. */
export async function ownCycle(context: Context): Promise<Cycle & { id: number }> {
  const cycle = await cycleIn(context, { forUpdate: true });
  const { id, handle } = cycle;
  if (id === null)
    throw new Failure('CYCLE_NONE', `no cycle is under way in ${cycle.repository}; start one with "cycle/start"`);
  if (handle !== context.run.handle)
    throw new Failure(
      'CYCLE_UNDER_WAY',
      `the cycle that is under way in ${cycle.repository} belongs to the run ${String(handle)}, which alone moves it`,
    );
  return { ...cycle, id };
}

export type CycleRow = {
  cycle: number;
  goal: string;
  state: State;
  handle: string;
  persona: string;
  startedAt: number;
  updatedAt: number;
  durationMs: number;
  error: string | null;
};

interface WholeRow extends Row {
  persona: string;
  updated_at: Date;
}

const WHOLE = 'id, handle, persona, state, is_paused, error, goal, context, changeset, started_at, updated_at';

const shownRow = (row: WholeRow): CycleRow => ({
  cycle: row.id,
  goal: row.goal,
  state: row.state,
  handle: row.handle,
  persona: row.persona,
  startedAt: row.started_at.getTime(),
  updatedAt: row.updated_at.getTime(),
  durationMs: row.updated_at.getTime() - row.started_at.getTime(),
  error: row.error,
});

/** The latest first. */
export async function cyclesIn(context: Context, limit: number): Promise<CycleRow[]> {
  const rows = await context.tx.query<WholeRow>(
    `select ${WHOLE} from cycle_cycles where repository = $1 order by id desc limit $2`,
    [repositoryIn(context), limit],
  );
  return rows.map(shownRow);
}

export interface NamedCycle {
  row: CycleRow;
  about: JsonObject;
}

/** One cycle of the repository by its number, whatever has become of it. */
export async function cycleNamed(context: Context, id: number): Promise<NamedCycle | null> {
  const [row] = await context.tx.query<WholeRow>(
    `select ${WHOLE} from cycle_cycles where repository = $1 and id = $2::bigint`,
    [repositoryIn(context), id],
  );
  return row === undefined ? null : { row: shownRow(row), about: contextOf(row) as unknown as JsonObject };
}
