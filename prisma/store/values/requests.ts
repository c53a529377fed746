/** Requests to models, written so that what the requests of a conversation have in common is kept once. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../language/json.ts';
import type { RequestOf, StoredRequest } from '../contract/cassette-contract.ts';
import type { AskedRequest } from '../contract/conversation-contract.ts';
import type { Database } from '../connection/database.ts';

type Query = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

const PAGE = 50;

interface Link {
  hash: string;
  before: string | null;
  message: string;
}

interface Written {
  texts: Map<string, string>;
  links: Map<string, Link>;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function textIn({ texts }: Written, value: JsonObject): string {
  const text = JSON.stringify(value);
  const hash = hashOf(text);
  texts.set(hash, text);
  return hash;
}

function chainIn(written: Written, messages: readonly JsonObject[]): string | null {
  let before: string | null = null;
  for (const one of messages) {
    const message = textIn(written, one);
    const hash = hashOf(`${before ?? ''} ${message}`);
    written.links.set(hash, { hash, before, message });
    before = hash;
  }
  return before;
}

/** In the same order as every other writer, so that two which write the same cannot block each other. */
const inOrder = (hashes: Iterable<string>): string[] => [...hashes].toSorted((a, b) => (a < b ? -1 : 1));

const ABSENT = (table: string): string =>
  `select asked.hash from unnest($1::text[]) as asked(hash) where not exists (select 1 from ${table} t where t.hash = asked.hash)`;

async function absent(query: Query, table: string, hashes: Iterable<string>): Promise<string[]> {
  const rows = await query<{ hash: string }>(ABSENT(table), [[...hashes]]);
  return inOrder(rows.map(({ hash }) => hash));
}

export async function keepRequests(
  query: Query,
  { handle, conversation, turn, asker }: RequestOf,
  requests: readonly AskedRequest[],
): Promise<void> {
  const written: Written = { texts: new Map(), links: new Map() };
  const rows = requests.map(({ head, messages, outcome }) => ({
    head: textIn(written, head),
    messages: chainIn(written, messages),
    outcome: JSON.stringify(outcome),
  }));
  const texts = await absent(query, 'messages', written.texts.keys());
  if (texts.length > 0)
    await query(
      `insert into messages (hash, message, bytes)
       select hash, message::json, octet_length(message) from unnest($1::text[], $2::text[]) as t(hash, message)
       on conflict (hash) do nothing`,
      [texts, texts.map((hash) => written.texts.get(hash))],
    );
  const links = await absent(query, 'request_messages', written.links.keys());
  if (links.length > 0)
    await query(
      `insert into request_messages (hash, before, message)
       select * from unnest($1::text[], $2::text[], $3::text[]) on conflict (hash) do nothing`,
      [
        links,
        links.map((hash) => written.links.get(hash)?.before),
        links.map((hash) => written.links.get(hash)?.message),
      ],
    );
  await query('delete from model_requests where handle = $1 and conversation = $2 and turn = $3 and asker = $4', [
    handle,
    conversation,
    turn,
    asker,
  ]);
  await query(
    `insert into model_requests (handle, conversation, turn, asker, head, messages, outcome)
     select $1, $2, $3, $4, t.head, t.messages, t.outcome::json
     from unnest($5::text[], $6::text[], $7::text[]) with ordinality as t(head, messages, outcome, place) order by place`,
    [
      handle,
      conversation,
      turn,
      asker,
      rows.map(({ head }) => head),
      rows.map(({ messages }) => messages),
      rows.map(({ outcome }) => outcome),
    ],
  );
}

interface Row {
  position: string;
  handle: string;
  conversation: string;
  turn: number;
  asker: string;
  head: JsonObject;
  messages: string | null;
  outcome: JsonObject;
}

const BELOW = `with roots as (select $1::text as handle union select handle from run_roots where root = $1)
  select r.position, r.handle, r.conversation, r.turn, r.asker, h.message as head, r.messages, r.outcome
  from model_requests r join messages h on h.hash = r.head
  where exists (select 1 from roots where r.handle = roots.handle or starts_with(r.handle, roots.handle || '/'))
    and r.position > $2 order by r.position limit ${PAGE}`;

const CHAIN = `with recursive chain as (
    select hash, before, message, 0 as depth from request_messages where hash = $1
    union all
    select l.hash, l.before, l.message, chain.depth + 1 from request_messages l join chain on l.hash = chain.before)
  select m.message from chain join messages m on m.hash = chain.message order by chain.depth desc`;

export async function* requestsBelow(database: Database, handle: string): AsyncGenerator<StoredRequest> {
  let after = '0';
  for (;;) {
    const rows: Row[] = await database.query<Row>(BELOW, [handle, after]);
    for (const { position, messages, ...row } of rows) {
      const said = messages === null ? [] : await database.query<{ message: JsonObject }>(CHAIN, [messages]);
      yield { ...row, messages: said.map(({ message }) => message) };
      after = position;
    }
    if (rows.length < PAGE) return;
  }
}
