/** Requests to models, written so that what the requests of a conversation have in common is kept once. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../language/json.ts';
import type { RequestOf, StoredRequest } from '../contract/models/cassette-contract.ts';
import type { AskedRequest } from '../contract/models/conversation-contract.ts';
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
const inOrder = (hashes: readonly string[]): string[] => hashes.toSorted((a, b) => (a < b ? -1 : 1));

const ABSENT = `select 'texts' as kind, hash from unnest($1::text[]) as t(hash)
    where not exists (select 1 from messages m where m.hash = t.hash)
  union all select 'links', hash from unnest($2::text[]) as t(hash)
    where not exists (select 1 from request_messages l where l.hash = t.hash)`;

const KEEP = `with texts as (
    insert into messages (hash, message, bytes)
    select hash, message::json, octet_length(message) from unnest($5::text[], $6::text[]) as t(hash, message)
    on conflict (hash) do nothing),
  links as (
    insert into request_messages (hash, before, message)
    select * from unnest($7::text[], $8::text[], $9::text[]) on conflict (hash) do nothing),
  replaced as (
    delete from model_requests where handle = $1 and conversation = $2 and turn = $3 and asker = $4)
  insert into model_requests (handle, conversation, turn, asker, head, messages, outcome)
  select $1, $2, $3, $4, t.head, t.messages, t.outcome::json
  from unnest($10::text[], $11::text[], $12::text[]) with ordinality as t(head, messages, outcome, place) order by place`;

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
  // Most of a conversation is there already, and is not sent again.
  const absent = await query<{ kind: 'texts' | 'links'; hash: string }>(ABSENT, [
    [...written.texts.keys()],
    [...written.links.keys()],
  ]);
  const absentOf = (wanted: 'texts' | 'links'): string[] =>
    inOrder(absent.flatMap(({ kind, hash }) => (kind === wanted ? [hash] : [])));
  const texts = absentOf('texts');
  const links = absentOf('links').map((hash) => written.links.get(hash));
  await query(KEEP, [
    handle,
    conversation,
    turn,
    asker,
    texts,
    texts.map((hash) => written.texts.get(hash)),
    links.map((link) => link?.hash),
    links.map((link) => link?.before),
    links.map((link) => link?.message),
    rows.map(({ head }) => head),
    rows.map(({ messages }) => messages),
    rows.map(({ outcome }) => outcome),
  ]);
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
