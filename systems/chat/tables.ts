/** A message is a row; `handle` and `key` say which step said it, or who did from outside of runs: said again, it is the same message. */
import type { Tables } from '../../prisma/store/contract/system-contract.ts';

export const tables: Tables = {
  messages: `
    create table chat_messages (
      seq bigserial primary key,
      room text not null,
      author text not null,
      handle text not null,
      key text not null,
      message text not null,
      project text,
      at timestamptz(3) not null default current_timestamp,
      unique (handle, key)
    );
    create index chat_messages_room_seq_idx on chat_messages (room, seq);
    create index chat_messages_project_room_seq_idx on chat_messages (project, room, seq);
  `,
  threads: `
    alter table chat_messages
      add column reply_to bigint,
      add column thread bigint,
      add column mentions text[] not null default '{}',
      add column source text not null default 'step';
    create index chat_messages_thread_idx on chat_messages (thread, seq) where thread is not null;
    create index chat_messages_mentions_idx on chat_messages using gin (mentions);
  `,
};
