/** Messages of rooms, one row each. */
import { PERSONS_HANDLE } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { withoutNul } from '../../prisma/store/connection/jsonb-text.ts';
import { chatEvent, type ChatMessage, type ChatRoom } from './messages.ts';

const COLUMNS = 'seq, room, author, handle, message, at';

interface Row extends Omit<ChatMessage, 'at'> {
  handle: string;
  at: Date;
}

/** A model has to do with its own project, and with what persons say; a step of a definition reaches every room. */
const heardBy = ({ caller, run }: Context): string | null =>
  caller.kind === 'step' && caller.byModel ? run.project : null;

/** `place`: of the parameter that names the project, or is null. */
const heardIn = (place: string): string => `(${place}::text is null or project is null or project = ${place})`;

const toMessage = ({ seq, room, author, handle, message, at }: Row): ChatMessage => ({
  seq,
  room,
  author,
  handle: handle === PERSONS_HANDLE ? null : handle,
  message,
  at: at.getTime(),
});

/** The same step says the same once. What a person says belongs to no project. */
export async function say(context: Context, room: string, message: string): Promise<{ author: string; event: string }> {
  const { tx, run, key, caller } = context;
  const { handle, persona: author, project } = run;
  const isPerson = caller.kind !== 'step';
  await tx.query(
    `insert into chat_messages (room, author, handle, key, message, project) values ($1, $2, $3, $4, $5, $6)
     on conflict (handle, key) do nothing`,
    [room, author, handle, key, message, isPerson ? null : project].map((value) => value && withoutNul(value)),
  );
  const event = chatEvent(room);
  await tx.publish(event, { room, message, author, handle: isPerson ? null : handle });
  return { author, event };
}

export async function messagesIn(
  context: Context,
  { room, limit, after = 0 }: { room: string; limit: number; after?: number | undefined },
): Promise<ChatMessage[]> {
  const rows = await context.tx.query<Row>(
    `select * from (select ${COLUMNS} from chat_messages where room = $1 and seq > $2::bigint and ${heardIn('$4')} order by seq desc limit $3) as latest order by seq`,
    [withoutNul(room), after, limit, heardBy(context)],
  );
  return rows.map(toMessage);
}

/** The one with the newest message first. */
export async function rooms(context: Context): Promise<ChatRoom[]> {
  const rows = await context.tx.query<Row & { messages: number }>(
    `select distinct on (room) ${COLUMNS}, (count(*) over (partition by room))::integer as messages
     from chat_messages where ${heardIn('$1')} order by room, seq desc`,
    [heardBy(context)],
  );
  return rows
    .map(({ messages, ...row }): ChatRoom => ({ room: row.room, messages, latest: toMessage(row) }))
    .toSorted((a, b) => b.latest.seq - a.latest.seq);
}
