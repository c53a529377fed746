/** Checkpoints, one row a step. */
import {
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
  taken_at as "takenAt", ended_at as "endedAt"`;

/** The state before a step is that before its first attempt. */
const BEGIN = `insert into checkpoints (handle, key, what, project, place, is_background, before, large_before, skipped, taken_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8::json, $9, $10)
  on conflict (handle, key) do update set after = null, large_after = null, ended_at = null,
    skipped = case when checkpoints.before is null then checkpoints.skipped end
  returning ${COLUMNS}`;

const END = `update checkpoints set after = $3, large_after = $4::json, ended_at = $5
  where handle = $1 and key = $2 and before is not null`;

const END_UNSEEN = `update checkpoints set skipped = $3
  where handle = $1 and key = $2 and before is not null and after is null`;

interface Row extends Omit<Checkpoint, 'before' | 'after' | 'takenAt' | 'endedAt'> {
  before: string | null;
  largeBefore: LargeFiles | null;
  after: string | null;
  largeAfter: LargeFiles | null;
  takenAt: Date;
  endedAt: Date | null;
}

const stateOf = (tree: string | null, large: LargeFiles | null): ProjectState | null =>
  tree === null ? null : { tree, large: large ?? {} };

const toCheckpoint = ({ before, largeBefore, after, largeAfter, takenAt, endedAt, ...row }: Row): Checkpoint => ({
  ...row,
  before: stateOf(before, largeBefore),
  after: stateOf(after, largeAfter),
  takenAt: takenAt.getTime(),
  endedAt: endedAt?.getTime() ?? null,
});

const jsonOf = (state: ProjectState | null): string | null =>
  state === null || Object.keys(state.large).length === 0 ? null : JSON.stringify(state.large);

export function checkpoints(database: Database): Checkpoints {
  const only = async (text: string, { handle, key }: CheckpointOf): Promise<Checkpoint | null> => {
    const [row] = await database.query<Row>(text, [withoutNul(handle), withoutNul(key)]);
    return row === undefined ? null : toCheckpoint(row);
  };
  return {
    async begin({ handle, key, what, project, place, isBackground, before, skipped, takenAt }) {
      const state = [before?.tree ?? null, jsonOf(before)];
      const values = [handle, key, what, project, place, isBackground, ...state, skipped, new Date(takenAt)];
      const [row] = await database.query<Row>(BEGIN, values);
      if (row === undefined) throw new Error(`bug: the checkpoint of ${handle} ${key} was written, and has no row`);
      return toCheckpoint(row);
    },
    async end({ handle, key }, after, endedAt) {
      await database.query(END, [handle, key, after.tree, jsonOf(after), new Date(endedAt)]);
    },
    async endUnseen({ handle, key }, why) {
      await database.query(END_UNSEEN, [handle, key, withoutNul(why)]);
    },
    find: (of) => only(`select ${COLUMNS} from checkpoints where handle = $1 and key = $2`, of),
    async ofRun(handle) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from checkpoints where handle = $1 or starts_with(handle, $1 || '/') order by position`,
        [withoutNul(handle)],
      );
      return rows.map((row) => toCheckpoint(row));
    },
    async sweep() {
      await database.query(
        `delete from checkpoints where taken_at < now() - make_interval(days => $1) and (ended_at is null or ended_at < now() - make_interval(days => $1))`,
        [CHECKPOINT_DAYS],
      );
    },
  };
}
