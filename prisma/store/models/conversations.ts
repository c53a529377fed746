/** Conversations with models: messages by content, their order, and the turns that made them. */
import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { JsonObject } from '../../../language/json.ts';
import {
  type ConversationOf,
  type ConversationPart,
  type Conversations,
  type PlacedMessage,
  type TurnClaim,
} from '../contract/models/conversation-contract.ts';
import type { SpendingOf } from '../contract/models/spending-contract.ts';
import { queryOn, type Database } from '../connection/database.ts';
import { keepRequests } from './requests.ts';
import { settleSpending } from './spending.ts';

type Query = (text: string, values: readonly unknown[]) => Promise<unknown>;

interface MessageRow {
  turn: number;
  part: number;
  hash: string;
  message: JsonObject;
}

interface TurnRow {
  conversation: string;
  turn: number;
  attempt: string;
  begunAt: Date;
  answeredAt: Date | null;
  answer: JsonObject | null;
  copiedOf: string | null;
}

const ADD = `with texts as (
    insert into messages (hash, message, bytes)
    select hash, message::json, octet_length(message) from unnest($6::text[], $7::text[]) as t(hash, message)
    on conflict (hash) do nothing)
  insert into conversation_messages (handle, conversation, turn, part, hash)
  select $1, $2, turn, part, hash from unnest($3::integer[], $4::integer[], $5::text[]) as t(turn, part, hash)
  on conflict (handle, conversation, turn, part) do nothing`;

export async function addWith(
  query: Query,
  { handle, conversation }: ConversationOf,
  messages: readonly PlacedMessage[],
): Promise<void> {
  const texts = messages.map(({ message }) => JSON.stringify(message));
  const hashes = texts.map((text) => createHash('sha256').update(text).digest('hex'));
  // One statement takes a hash once, and in the same order as every other: two that write the same cannot block each other.
  const byHash = [...new Map(hashes.map((hash, index) => [hash, texts[index]]))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  await query(ADD, [
    handle,
    conversation,
    messages.map(({ turn }) => turn),
    messages.map(({ part }) => part),
    hashes,
    byHash.map(([hash]) => hash),
    byHash.map(([, text]) => text),
  ]);
}

export function conversations(database: Database): Conversations {
  return {
    async add(of, messages) {
      if (messages.length > 0) await addWith((text, values) => database.query(text, values), of, messages);
    },
    async read({ handle, conversation }, before) {
      return database.query<MessageRow>(
        `select c.turn, c.part, c.hash, m.message from conversation_messages c join messages m on m.hash = c.hash
         where c.handle = $1 and c.conversation = $2 and ($3::integer is null or c.turn < $3) order by c.turn, c.part`,
        [handle, conversation, before ?? null],
      );
    },
    async wasAsked({ handle, conversation }, turn) {
      const rows = await database.query('select 1 from turns where handle = $1 and conversation = $2 and turn = $3', [
        handle,
        conversation,
        turn,
      ]);
      return rows.length > 0;
    },
    claim: (of, turn, attempt, how) => claimTurn(database, { ...of, turn, attempt }, how?.isRequest ?? true),
    answer: (of, turn, answer, message, { attempt, spent, asked }) =>
      database.transaction(async (client) => {
        const query = <Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> =>
          queryOn<Row>(client, text, values);
        const kept = await keepAnswer(client, of, turn, answer);
        if (spent !== null) await settleSpending(query, { ...of, turn, attempt }, 'answered', spent);
        if (kept !== null) return kept;
        await addWith(query, of, [{ turn, part: 0, message }]);
        if (asked.requests.length > 0) await keepRequests(query, { ...of, turn, asker: asked.asker }, asked.requests);
        return answer;
      }),
    async find({ handle, conversation }, turn) {
      const [row] = await database.query<{ answer: JsonObject | null }>(
        'select answer from turns where handle = $1 and conversation = $2 and turn = $3',
        [handle, conversation, turn],
      );
      return row?.answer ?? null;
    },
    copy: (part, to) => copy(database, part, to),
    async turns(handle) {
      const rows = await database.query<TurnRow>(
        `select conversation, turn, attempt, begun_at as "begunAt", answered_at as "answeredAt", answer, copied_of as "copiedOf"
         from turns where handle = $1 order by begun_at, conversation, turn`,
        [handle],
      );
      return rows.map(({ begunAt, answeredAt, ...row }) => ({
        ...row,
        begunAt: begunAt.getTime(),
        answeredAt: answeredAt?.getTime() ?? null,
      }));
    },
  };
}

/** A conversation, and what was shown in its place where it had grown too long, which is kept under keys of its own. */
const OF_CONVERSATION = `handle = $1 and (conversation = $2 or (starts_with(conversation, $2 || '/turn.')
  and (regexp_match(substr(conversation, char_length($2) + 1), '^/turn[.](\\d+)/'))[1]::integer <= $4::integer + 1))`;

async function copy(
  database: Database,
  { handle, conversation, before, turns }: ConversationPart,
  to: string,
): Promise<void> {
  await database.transaction(async (client) => {
    await queryOn(
      client,
      `insert into conversation_messages (handle, conversation, turn, part, hash)
       select $3, conversation, turn, part, hash from conversation_messages
       where ${OF_CONVERSATION} and (conversation <> $2 or (turn, part) < ($5::integer, $6::integer))
       on conflict (handle, conversation, turn, part) do nothing`,
      [handle, conversation, to, turns, before.turn, before.part],
    );
    await queryOn(
      client,
      `insert into turns (handle, conversation, turn, attempt, begun_at, answered_at, answer, copied_of)
       select $3, conversation, turn, attempt, begun_at, answered_at, answer, coalesce(copied_of, handle) from turns
       where ${OF_CONVERSATION} and (conversation <> $2 or turn <= $4::integer) and answer is not null
       on conflict (handle, conversation, turn) do nothing`,
      [handle, conversation, to, turns],
    );
    await queryOn(
      client,
      `insert into model_requests (handle, conversation, turn, asker, head, messages, outcome)
       select $3, conversation, turn, asker, head, messages, outcome from model_requests
       where ${OF_CONVERSATION} and (conversation <> $2 or turn <= $4::integer) and not exists (
         select 1 from model_requests kept where kept.handle = $3 and kept.conversation = model_requests.conversation
           and kept.turn = model_requests.turn and kept.asker = model_requests.asker)
       order by position`,
      [handle, conversation, to, turns],
    );
  });
}

async function claimTurn(
  database: Database,
  { handle, conversation, turn, attempt }: SpendingOf,
  isRequest: boolean,
): Promise<TurnClaim> {
  const [row] = await database.query<TurnClaim>(
    `with claimed as (insert into turns (handle, conversation, turn, attempt) values ($1, $2, $3, $4)
       on conflict (handle, conversation, turn)
       do update set attempt = case when turns.answer is null then excluded.attempt else turns.attempt end
       returning answer, xmax = 0 as "isFirst"),
     asked as (insert into spending (handle, conversation, turn, attempt, persona)
       select $1, $2, $3, $4, (select persona from runs where runs.handle = $1) from claimed where answer is null and $5 on conflict do nothing)
     select answer, "isFirst" from claimed`,
    [handle, conversation, turn, attempt, isRequest],
  );
  if (row === undefined) throw new Error(`bug: turn ${turn} of ${conversation} was claimed, and has no row`);
  return row;
}

/** Null when it is kept; else the one that was there before. Its bytes as they came are needed no more. */
async function keepAnswer(
  client: PoolClient,
  { handle, conversation }: ConversationOf,
  turn: number,
  answer: JsonObject,
): Promise<JsonObject | null> {
  const [kept] = await queryOn(
    client,
    `with came as (delete from raw_answers where handle = $1 and conversation = $2 and turn = $3)
     update turns set answer = $4::json, answered_at = clock_timestamp()
     where handle = $1 and conversation = $2 and turn = $3 and answer is null returning turn`,
    [handle, conversation, turn, JSON.stringify(answer)],
  );
  if (kept !== undefined) return null;
  const [before] = await queryOn<{ answer: JsonObject }>(
    client,
    'select answer from turns where handle = $1 and conversation = $2 and turn = $3',
    [handle, conversation, turn],
  );
  if (before === undefined) throw new Error(`bug: turn ${turn} of ${conversation} was answered before it was claimed`);
  return before.answer;
}
