/** Answers of providers as they came, until they have been read. */
import type { KeptAnswer, RawAnswers } from '../contract/models/raw-answer-contract.ts';
import type { Database } from '../connection/database.ts';
import { SETTLE, settledValues } from './spending.ts';

/**
 * Commits without a flush. A worker that is lost loses nothing by that: the row is in the database. Only a crash of
 * Postgres itself can lose it, until the next commit that flushes, which is that of the answer, a moment later.
 */
const KEEP = `with lazily as materialized (select set_config('synchronous_commit', 'off', true) as said),
  settled as (${SETTLE})
  insert into raw_answers (handle, conversation, turn, attempt, asker, request, status, headers, body)
  select $1, $2, $3, $4, $14, $15, $16, $17, $18 from lazily on conflict do nothing`;

export function rawAnswers(database: Database): RawAnswers {
  return {
    async keep(of, { status, headers, body }, spent) {
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const { asker, request } = of;
      await database.query(KEEP, [
        ...settledValues(of, 'answered', spent),
        asker,
        request,
        status,
        JSON.stringify(headers),
        bytes,
      ]);
    },
    async find({ handle, conversation, turn, asker, request }) {
      const [row] = await database.query<KeptAnswer>(
        `select attempt, status, headers, body from raw_answers
         where handle = $1 and conversation = $2 and turn = $3 and asker = $4 and request = $5`,
        [handle, conversation, turn, asker, request],
      );
      return row ?? null;
    },
    async sweep() {
      await database.query(
        `delete from raw_answers a using runs r where a.handle = r.handle and r.finished_at < now() - interval '1 day'`,
        [],
      );
    },
  };
}
