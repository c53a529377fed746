/** Messages of rooms, one row each. */
import { withoutNul } from '../connection/jsonb-text.ts';
import type { Database } from '../connection/database.ts';
import type { Chat, ChatMessage, ChatRoom, NewChatMessage } from '../contract/chat-contract.ts';

/** Stands for the run where a person says something. */
const OUTSIDE = '@chat';

const SAY = `insert into chat_messages (room, author, handle, key, message, project) values ($1, $2, $3, $4, $5, $6)
  on conflict (handle, key) do nothing`;

const COLUMNS = 'seq, room, author, handle, message, at';

interface Row extends Omit<ChatMessage, 'at' | 'handle'> {
  handle: string;
  at: Date;
}

/** `place`: of the parameter that names the project, or is null. */
const heardIn = (place: string): string => `(${place}::text is null or project is null or project = ${place})`;

const valuesOf = ({ room, author, handle, key, message, project }: NewChatMessage): (string | null)[] => [
  withoutNul(room),
  withoutNul(author),
  handle ?? OUTSIDE,
  key,
  withoutNul(message),
  project,
];

const toMessage = ({ seq, room, author, handle, message, at }: Row): ChatMessage => ({
  seq,
  room,
  author,
  handle: handle === OUTSIDE ? null : handle,
  message,
  at: at.getTime(),
});

export function chat(database: Database): Chat {
  return {
    async say(session, message) {
      await session.write(SAY, valuesOf(message));
    },

    async read(session, { room, limit, after = 0, project }) {
      const rows = await session.read<Row>(
        `select * from (select ${COLUMNS} from chat_messages where room = $1 and seq > $2::bigint and ${heardIn('$4')} order by seq desc limit $3) as latest order by seq`,
        [withoutNul(room), after, limit, project ?? null],
      );
      return rows.map(toMessage);
    },

    async rooms(session, { project } = {}) {
      const rows = await session.read<Row & { messages: number }>(
        `select distinct on (room) ${COLUMNS}, (count(*) over (partition by room))::integer as messages
         from chat_messages where ${heardIn('$1')} order by room, seq desc`,
        [project ?? null],
      );
      return rows
        .map(({ messages, ...row }): ChatRoom => ({ room: row.room, messages, latest: toMessage(row) }))
        .toSorted((a, b) => b.latest.seq - a.latest.seq);
    },

    async post(message) {
      await database.query(SAY, valuesOf(message));
    },
  };
}
