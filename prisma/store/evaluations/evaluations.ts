/** Evaluations that were begun, and what came of those that ended. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../connection/database.ts';
import type { Evaluations, StoredEvaluation } from './evaluation-contract.ts';

interface Row extends Omit<StoredEvaluation, 'startedAt' | 'finishedAt'> {
  startedAt: Date;
  finishedAt: Date | null;
}

const COLUMNS = 'id, file, content, started_at as "startedAt", finished_at as "finishedAt", result';

const toEvaluation = ({ startedAt, finishedAt, ...row }: Row): StoredEvaluation => ({
  ...row,
  startedAt: startedAt.getTime(),
  finishedAt: finishedAt?.getTime() ?? null,
});

export function evaluations(database: Database): Evaluations {
  return {
    async begin(file, content) {
      const [row] = await database.query<Row>(
        `insert into evaluations (id, file, content) values ($1, $2, $3) returning ${COLUMNS}`,
        [randomUUID().slice(0, 13), file, content],
      );
      if (row === undefined) throw new Error('bug: an evaluation was not written');
      return toEvaluation(row);
    },
    async finish(id, result) {
      await database.query(
        'update evaluations set finished_at = clock_timestamp(), result = $2::json where id = $1 and finished_at is null',
        [id, JSON.stringify(result)],
      );
    },
    async list(file, limit) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from evaluations where file = $1 order by position desc limit $2`,
        [file, limit],
      );
      return rows.map(toEvaluation);
    },
  };
}
