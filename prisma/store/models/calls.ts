/** Claims of calls, one row each. */
import type { CallOf, CallOutcome, Calls, RowsBeside, StoredCall } from '../contract/models/call-contract.ts';
import { queryOn, type Database } from '../connection/database.ts';
import { addWith } from './conversations.ts';

/** Whoever begins a later try takes the claim over; of one try, the first attempt has it. */
const CLAIM = `insert into calls (handle, conversation, turn, call, key, attempt, tries)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (handle, conversation, turn, call) do update set
    key = case when calls.outcome is null and calls.tries < excluded.tries then excluded.key else calls.key end,
    attempt = case when calls.outcome is null and calls.tries < excluded.tries then excluded.attempt else calls.attempt end,
    tries = case when calls.outcome is null then greatest(calls.tries, excluded.tries) else calls.tries end
  returning attempt, outcome`;

const END = `update calls set state = $5, outcome = $6::json, ended_at = clock_timestamp()
  where handle = $1 and conversation = $2 and turn = $3 and call = $4 and outcome is null returning call`;

interface CallRow extends Omit<StoredCall, 'begunAt' | 'endedAt'> {
  begunAt: Date;
  endedAt: Date | null;
}

const placeOf = ({ handle, conversation, turn, call }: CallOf): [string, string, number, number] => [
  handle,
  conversation,
  turn,
  call,
];

/** In one statement; `values` gets those of the rows. */
function claimWith(rows: RowsBeside | undefined, values: unknown[]): string {
  const parts = (rows?.all ?? []).map(
    ([insert, row], index) => `row${index} as (${insert.text(`$${values.push(`[${row}]`)}`)})`,
  );
  return parts.length === 0 ? CLAIM : `with ${parts.join(', ')} ${CLAIM}`;
}

export function calls(database: Database): Calls {
  return {
    async claim(of, { key, attempt, tries }, rows) {
      const values = [...placeOf(of), key, attempt, tries];
      const [row] = await database.query<{ attempt: string; outcome: CallOutcome | null }>(
        claimWith(rows, values),
        values,
      );
      if (row === undefined) throw new Error(`bug: the call ${key} was claimed, and has no row`);
      if (row.outcome !== null) return { state: 'ended', outcome: row.outcome };
      return { state: row.attempt === attempt ? 'claimed' : 'unknown' };
    },
    end: (of, outcome, messages, rows) =>
      database.transaction(async (client) => {
        for (const [insert, row] of rows?.all ?? []) await queryOn(client, insert.text('$1'), [`[${row}]`]);
        const state = outcome.ok ? 'done' : 'failed';
        const [kept] = await queryOn(client, END, [...placeOf(of), state, JSON.stringify(outcome)]);
        if (kept === undefined) {
          const [before] = await queryOn<{ outcome: CallOutcome }>(
            client,
            'select outcome from calls where handle = $1 and conversation = $2 and turn = $3 and call = $4',
            placeOf(of),
          );
          if (before === undefined) throw new Error(`bug: call ${of.call} of turn ${of.turn} ended unclaimed`);
          return before.outcome;
        }
        if (messages.length > 0) await addWith((text, values) => queryOn(client, text, values), of, messages);
        return outcome;
      }),
    async list(handle) {
      const rows = await database.query<CallRow>(
        `select handle, conversation, turn, call, key, attempt, tries, state, begun_at as "begunAt", ended_at as "endedAt"
         from calls where handle = $1 order by begun_at, conversation, turn, call`,
        [handle],
      );
      return rows.map(({ begunAt, endedAt, ...row }) => ({
        ...row,
        begunAt: begunAt.getTime(),
        endedAt: endedAt?.getTime() ?? null,
      }));
    },
  };
}
