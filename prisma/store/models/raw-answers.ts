/** Answers of providers as they came, until they have been read. */
import type { KeptAnswer, RawAnswers } from '../contract/models/raw-answer-contract.ts';
import { queryOn, type Database } from '../connection/database.ts';
import { settleSpending } from './spending.ts';

export function rawAnswers(database: Database): RawAnswers {
  return {
    async keep(of, { status, headers, body }, spent) {
      const { handle, conversation, turn, asker, request, attempt } = of;
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      await database.transaction(async (client) => {
        await queryOn(
          client,
          `insert into raw_answers (handle, conversation, turn, asker, request, attempt, status, headers, body)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
          [handle, conversation, turn, asker, request, attempt, status, JSON.stringify(headers), bytes],
        );
        await settleSpending((text, values) => queryOn(client, text, values), of, 'answered', spent);
      });
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
