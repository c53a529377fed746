/** Checkpoints, one row a step. */
import {
  type BesideCheckpoint,
  CHECKPOINT_DAYS,
  type Checkpoint,
  type CheckpointOf,
  type Checkpoints,
  type LargeFiles,
  type ProjectState,
} from '../contract/checkpoint-contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

const COLUMNS = `handle, key, position::float8 as position, what, project, place, is_background as "isBackground",
  before, large_before as "largeBefore", after, large_after as "largeAfter", skipped,
  taken_at as "takenAt", ended_at as "endedAt", begun_at as "begunAt", closed_at as "closedAt", paths`;

/** The state before a step is that before its first attempt. */
const BEGIN = `insert into checkpoints (handle, key, what, project, place, is_background, before, large_before, skipped, taken_at, begun_at, paths)
  values ($1, $2, $3, $4, $5, $6, $7, $8::json, $9, $10, $11, $12::json)
  on conflict (handle, key) do update set after = null, large_after = null, ended_at = null, closed_at = null,
    skipped = case when checkpoints.before is null then checkpoints.skipped end
  returning ${COLUMNS}`;

/** Without a state before there is none after: only when it had ended. */
const END = `update checkpoints set closed_at = $5, ended_at = $6,
    after = case when before is not null then $3 end, large_after = case when before is not null then $4::json end
  where handle = $1 and key = $2`;

const END_UNSEEN = `update checkpoints set closed_at = $4, ended_at = $5,
    skipped = case when before is null then skipped else $3 end
  where handle = $1 and key = $2 and after is null`;

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

const jsonOf = (state: ProjectState | null): string | null =>
  state === null || Object.keys(state.large).length === 0 ? null : JSON.stringify(state.large);

export function checkpoints(database: Database): Checkpoints {
  const only = async (text: string, { handle, key }: CheckpointOf): Promise<Checkpoint | null> => {
    const [row] = await database.query<Row>(text, [withoutNul(handle), withoutNul(key)]);
    return row === undefined ? null : toCheckpoint(row);
  };
  return {
    async begin({ handle, key, what, project, place, isBackground, before, skipped, takenAt, begunAt, paths }) {
      const state = [before?.tree ?? null, jsonOf(before)];
      const times = [new Date(takenAt), new Date(begunAt)];
      const written = paths === null ? null : JSON.stringify(paths.map((path) => withoutNul(path)));
      const values = [handle, key, what, project, place, isBackground, ...state, skipped, ...times, written];
      const [row] = await database.query<Row>(BEGIN, values);
      if (row === undefined) throw new Error(`bug: the checkpoint of ${handle} ${key} was written, and has no row`);
      return toCheckpoint(row);
    },
    async end({ handle, key }, after, { closedAt, endedAt }) {
      const times = [new Date(closedAt), new Date(endedAt)];
      await database.query(END, [handle, key, after.tree, jsonOf(after), ...times]);
    },
    async endUnseen({ handle, key }, why, { closedAt, endedAt }) {
      await database.query(END_UNSEEN, [handle, key, withoutNul(why), new Date(closedAt), new Date(endedAt)]);
    },
    find: (of) => only(`select ${COLUMNS} from checkpoints where handle = $1 and key = $2`, of),
    async ofRun(handle) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from checkpoints where handle = $1 or starts_with(handle, $1 || '/') order by position`,
        [withoutNul(handle)],
      );
      return rows.map((row) => toCheckpoint(row));
    },
    async beside(place, { from, to }) {
      const times = [new Date(from), to === null ? null : new Date(to)];
      return (await database.query<BesideRow>(BESIDE, [place, ...times])).map((row) => toBeside(row));
    },
    async sweep() {
      await database.query(
        `delete from checkpoints where taken_at < now() - make_interval(days => $1) and (ended_at is null or ended_at < now() - make_interval(days => $1))`,
        [CHECKPOINT_DAYS],
      );
    },
  };
}
