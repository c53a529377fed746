/** Checkpoints, one row a step. */
import {
  type BesideCheckpoint,
  CHECKPOINT_DAYS,
  type Checkpoint,
  type CheckpointOf,
  type Checkpoints,
  type EndTimes,
  type LargeFiles,
  type NewCheckpoint,
  type ProjectState,
} from '../contract/checkpoint-contract.ts';
import type { BulkInsert } from '../contract/session-contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

const timeAt = (at: number): string => `to_timestamp((e.value->>${at})::double precision / 1000)`;
const jsonAt = (at: number): string => `case when e.value->>${at} is not null then e.value->${at} end`;

const COLUMNS = `handle, key, position::float8 as position, what, project, place, is_background as "isBackground",
  before, large_before as "largeBefore", after, large_after as "largeAfter", skipped,
  taken_at as "takenAt", ended_at as "endedAt", begun_at as "begunAt", closed_at as "closedAt", paths`;

/**
 * Of rows `[handle, key, what, project, place, isBackground, before, large, skipped, takenAt, begunAt, paths]`. The state
 * before a step is that before its first attempt.
 */
const BEGIN: BulkInsert = {
  text: (rows) => `insert into checkpoints
      (handle, key, what, project, place, is_background, before, large_before, skipped, taken_at, begun_at, paths)
    select distinct on (e.value->>0, e.value->>1) e.value->>0, e.value->>1, e.value->>2, e.value->>3, e.value->>4,
      (e.value->>5)::boolean, e.value->>6, ${jsonAt(7)}, e.value->>8, ${timeAt(9)}, ${timeAt(10)}, ${jsonAt(11)}
    from json_array_elements(${rows}::json) as e
    on conflict (handle, key) do update set after = null, large_after = null, ended_at = null, closed_at = null,
      skipped = case when checkpoints.before is null then checkpoints.skipped end`,
};

/**
 * Of rows `[handle, key, after, large, why, closedAt, endedAt]`, without a state after where none could be taken. Without
 * a state before there is none after: only when it had ended.
 */
const END: BulkInsert = {
  text: (rows) => `update checkpoints set closed_at = ${timeAt(5)}, ended_at = ${timeAt(6)},
      after = case when before is not null then e.value->>2 end,
      large_after = case when before is not null then ${jsonAt(3)} end,
      skipped = case when before is null or e.value->>2 is not null then skipped else e.value->>4 end
    from json_array_elements(${rows}::json) as e
    where handle = e.value->>0 and key = e.value->>1 and (e.value->>2 is not null or after is null)`,
};

const BESIDE = `select * from (
    select ${COLUMNS}, coalesce(ended_at, (
      select finished_at from runs where runs.handle = checkpoints.handle and finished_at > checkpoints.taken_at)) as until
    from checkpoints where place = $1 and taken_at <= coalesce($3, 'infinity'::timestamptz)) as known
  where until is null or until >= $2 order by position`;

type Times = 'takenAt' | 'endedAt' | 'begunAt' | 'closedAt';

interface Row extends Omit<Checkpoint, 'before' | 'after' | Times> {
  before: string | null;
  largeBefore: LargeFiles | null;
  after: string | null;
  largeAfter: LargeFiles | null;
  takenAt: Date;
  endedAt: Date | null;
  begunAt: Date;
  closedAt: Date | null;
}

interface BesideRow extends Row {
  until: Date | null;
}

const stateOf = (tree: string | null, large: LargeFiles | null): ProjectState | null =>
  tree === null ? null : { tree, large: large ?? {} };

const toCheckpoint = ({ before, largeBefore, after, largeAfter, ...row }: Row): Checkpoint => ({
  ...row,
  before: stateOf(before, largeBefore),
  after: stateOf(after, largeAfter),
  takenAt: row.takenAt.getTime(),
  endedAt: row.endedAt?.getTime() ?? null,
  begunAt: row.begunAt.getTime(),
  closedAt: row.closedAt?.getTime() ?? null,
});

const toBeside = ({ until, ...row }: BesideRow): BesideCheckpoint => ({
  ...toCheckpoint(row),
  until: until?.getTime() ?? null,
});

/** As the JSON that a statement takes texts from, which holds no NUL and no half of a pair. */
const row = (...values: (string | number | boolean | null | LargeFiles | readonly string[])[]): string =>
  JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'string' ? withoutNul(Buffer.from(value).toString()) : value,
  );

const largeOf = (state: ProjectState | null): LargeFiles | null =>
  state === null || Object.keys(state.large).length === 0 ? null : state.large;

const begun = ({
  handle,
  key,
  what,
  project,
  place,
  isBackground,
  before,
  skipped,
  ...more
}: NewCheckpoint): string => {
  const { takenAt, begunAt, paths } = more;
  const state = [before?.tree ?? null, largeOf(before)] as const;
  return row(handle, key, what, project, place, isBackground, ...state, skipped, takenAt, begunAt, paths);
};

const ended = ({ handle, key }: CheckpointOf, after: ProjectState, { closedAt, endedAt }: EndTimes): string =>
  row(handle, key, after.tree, largeOf(after), null, closedAt, endedAt);

const endedUnseen = ({ handle, key }: CheckpointOf, why: string, { closedAt, endedAt }: EndTimes): string =>
  row(handle, key, null, null, why, closedAt, endedAt);

export function checkpoints(database: Database): Checkpoints {
  const only = async (text: string, { handle, key }: CheckpointOf): Promise<Checkpoint | null> => {
    const [known] = await database.query<Row>(text, [withoutNul(handle), withoutNul(key)]);
    return known === undefined ? null : toCheckpoint(known);
  };
  return {
    async begin(checkpoint) {
      const [known] = await database.query<Row>(`${BEGIN.text('$1')} returning ${COLUMNS}`, [`[${begun(checkpoint)}]`]);
      const { handle, key } = checkpoint;
      if (known === undefined) throw new Error(`bug: the checkpoint of ${handle} ${key} was written, and has no row`);
      return toCheckpoint(known);
    },
    async end(...of) {
      await database.query(END.text('$1'), [`[${ended(...of)}]`]);
    },
    async endUnseen(...of) {
      await database.query(END.text('$1'), [`[${endedUnseen(...of)}]`]);
    },
    later: (sink) => ({
      begin: (checkpoint) => sink.later(BEGIN, begun(checkpoint)),
      end: (...of) => sink.later(END, ended(...of)),
      endUnseen: (...of) => sink.later(END, endedUnseen(...of)),
    }),
    find: (of) => only(`select ${COLUMNS} from checkpoints where handle = $1 and key = $2`, of),
    async ofRun(handle) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from checkpoints where handle = $1 or starts_with(handle, $1 || '/') order by position`,
        [withoutNul(handle)],
      );
      return rows.map((one) => toCheckpoint(one));
    },
    async beside(place, { from, to }) {
      const times = [new Date(from), to === null ? null : new Date(to)];
      return (await database.query<BesideRow>(BESIDE, [place, ...times])).map((one) => toBeside(one));
    },
    async sweep() {
      await database.query(
        `delete from checkpoints where taken_at < now() - make_interval(days => $1) and (ended_at is null or ended_at < now() - make_interval(days => $1))`,
        [CHECKPOINT_DAYS],
      );
    },
  };
}
