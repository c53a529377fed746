/** An item that somebody has posted; questions and messages of runs are rows of the core. `project` is null where a person posted it. */
import type { Tables } from '../../prisma/store/contract/system-contract.ts';

export const tables: Tables = {
  items: `
    create table inbox_items (
      seq bigserial primary key,
      id text not null unique,
      persona text not null,
      kind text not null check (kind in ('task', 'question', 'notice', 'completion')),
      message text not null,
      show json,
      domain text,
      priority text not null check (priority in ('low', 'normal', 'high', 'urgent')),
      rank smallint not null generated always as (case priority when 'urgent' then 0 when 'high' then 1 when 'normal' then 2 else 3 end) stored,
      posted_by text not null,
      posted_handle text,
      by_model boolean not null,
      project text,
      posted_at timestamptz(3) not null default current_timestamp,
      state text not null default 'open' check (state in ('open', 'taken', 'done', 'dropped')),
      taken_by text,
      taken_handle text,
      taken_until timestamptz(3),
      answer json,
      closed_by text,
      closed_at timestamptz(3)
    );
    create index inbox_items_waiting_idx on inbox_items (persona, rank, seq) where state in ('open', 'taken');
    create index inbox_items_persona_idx on inbox_items (persona, seq);
    create index inbox_items_handle_idx on inbox_items (posted_handle) where posted_handle is not null;
  `,
};
