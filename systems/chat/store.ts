/** Messages of rooms, one row each. */
import { doorOf, PERSONS_HANDLE, projectOfModel } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { withoutNul } from '../../prisma/store/connection/jsonb-text.ts';
import { Failure } from '../../world/failures/failures.ts';
import { chatEvent, mentionsIn, type ChatMessage, type ChatRoom } from './messages.ts';

const COLUMNS = 'seq, room, author, handle, message, at, reply_to, thread, mentions, source';

interface Row extends Omit<ChatMessage, 'at' | 'replyTo'> {
  handle: string;
  at: Date;
  reply_to: number | null;
}

/** `place`: of the parameter that names the project, or is null. */
const heardIn = (place: string): string => `(${place}::text is null or project is null or project = ${place})`;

const toMessage = ({ handle, at, reply_to: replyTo, ...row }: Row): ChatMessage => ({
  seq: row.seq,
  room: row.room,
  author: row.author,
  handle: handle === PERSONS_HANDLE ? null : handle,
  message: row.message,
  at: at.getTime(),
  replyTo,
  thread: row.thread,
  mentions: row.mentions,
  source: row.source,
});

export interface Saying {
  room: string;
  message: string;
  replyTo?: number | undefined;
}

export interface Said extends Pick<ChatMessage, 'seq' | 'author' | 'replyTo' | 'thread' | 'mentions'> {
  event: string;
}

/** The same step says the same once. What a person says belongs to no project. */
export async function say(context: Context, { room, message, replyTo }: Saying): Promise<Said> {
  const { tx, run, key, caller } = context;
  const { handle, persona: author, project } = run;
  const isPerson = caller.kind !== 'step';
  const thread = replyTo === undefined ? null : await threadOf(context, room, replyTo);
  const mentions = mentionsIn(message);
  const source = doorOf(caller);
  const [row] = await tx.query<{ seq: number }>(
    `insert into chat_messages (room, author, handle, key, message, project, reply_to, thread, mentions, source)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (handle, key) do update set key = excluded.key returning seq`,
    [
      ...[room, author, handle, key, message, isPerson ? null : project].map((value) => value && withoutNul(value)),
      replyTo ?? null,
      thread,
      mentions,
      source,
    ],
  );
  if (row === undefined) throw new Error('bug: a message that was said is not there');
  const said = { seq: row.seq, author, replyTo: replyTo ?? null, thread, mentions };
  const event = chatEvent(room);
  await tx.publish(event, { room, message, handle: isPerson ? null : handle, source, ...said });
  return { ...said, event };
}

/** The first message of the thread that a message of the room belongs to, or begins. */
async function threadOf(context: Context, room: string, seq: number): Promise<number> {
  const [found] = await context.tx.query<{ thread: number | null }>(
    `select thread from chat_messages where room = $1 and seq = $2::bigint and ${heardIn('$3')}`,
    [withoutNul(room), seq, projectOfModel(context)],
  );
  if (found !== undefined) return found.thread ?? seq;
  throw new Failure(
    'CHAT_MESSAGE_NOT_FOUND',
    `the room "${room}" has no message ${seq}; collaboration/chat/read gives the "seq" of each`,
  );
}

export interface Reading {
  room: string;
  limit: number;
  after?: number | undefined;
  /** Of the first message of the thread. */
  thread?: number | undefined;
}

export async function messagesIn(
  context: Context,
  { room, limit, after = 0, thread }: Reading,
): Promise<ChatMessage[]> {
  const rows = await context.tx.query<Row>(
    `select * from (
       select ${COLUMNS} from chat_messages
       where room = $1 and seq > $2::bigint and ${heardIn('$4')} and ($5::bigint is null or seq = $5 or thread = $5)
       order by seq desc limit $3
     ) as latest order by seq`,
    [withoutNul(room), after, limit, projectOfModel(context), thread ?? null],
  );
  return rows.map(toMessage);
}

/** The latest messages of all rooms that address somebody. */
export async function messagesTo(
  context: Context,
  { name, limit, after = 0 }: { name: string; limit: number; after?: number | undefined },
): Promise<ChatMessage[]> {
  const rows = await context.tx.query<Row>(
    `select * from (
       select ${COLUMNS} from chat_messages
       where mentions @> array[$1::text] and seq > $2::bigint and ${heardIn('$4')}
       order by seq desc limit $3
     ) as latest order by seq`,
    [name, after, limit, projectOfModel(context)],
  );
  return rows.map(toMessage);
}

/** The one with the newest message first. */
export async function rooms(context: Context): Promise<ChatRoom[]> {
  const rows = await context.tx.query<Row & Omit<ChatRoom, 'room' | 'latest'>>(
    `with heard as (select seq, room, author, mentions, at from chat_messages where ${heardIn('$1')}),
       said as (select room, author, max(seq) as last from heard group by room, author),
       asked as (
         select heard.seq, heard.room from heard cross join unnest(heard.mentions) as name
           left join said on said.room = heard.room and said.author = name and said.last > heard.seq
         group by heard.seq, heard.room having count(said.author) = 0
       ),
       counted as (
         select room, max(seq) as last, count(*)::integer as messages,
           (count(*) filter (where at > clock_timestamp() - interval '1 hour'))::integer as "lastHour"
         from heard group by room
       ),
       waiting as (select room, count(*)::integer as unanswered from asked group by room)
     select latest.*, messages, "lastHour", coalesce(unanswered, 0) as unanswered
     from counted left join waiting on waiting.room = counted.room
       cross join lateral (select ${COLUMNS} from chat_messages where seq = counted.last) as latest`,
    [projectOfModel(context)],
  );
  return rows
    .map(({ messages, lastHour, unanswered, ...row }): ChatRoom => ({
      room: row.room,
      messages,
      lastHour,
      unanswered,
      latest: toMessage(row),
    }))
    .toSorted((a, b) => b.latest.seq - a.latest.seq);
}
