/** Evaluations that were begun, and what came of those that ended. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../connection/database.ts';
import type { Evaluations } from './evaluation-contract.ts';

export function evaluations(database: Database): Omit<Evaluations, 'list'> {
  return {
    async begin(file, content) {
      const id = randomUUID().slice(0, 13);
      const [row] = await database.query<{ startedAt: Date }>(
        'insert into evaluations (id, file, content) values ($1, $2, $3) returning started_at as "startedAt"',
        [id, file, content],
      );
      if (row === undefined) throw new Error('bug: an evaluation was not written');
      return { id, file, content, startedAt: row.startedAt.getTime(), finishedAt: null, result: null };
    },
    async finish(id, result) {
      await database.query(
        'update evaluations set finished_at = clock_timestamp(), result = $2::json where id = $1 and finished_at is null',
        [id, JSON.stringify(result)],
      );
    },
  };
}
