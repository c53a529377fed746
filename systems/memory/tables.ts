/**
 * A memory is a row, with its vector: what is forgotten is gone from both. `source` names what it was made from, so that
 * it is made once for a persona. `signs` are the signs of the vector, which are compared first.
 */
import type { Tables } from '../../prisma/store/contract/system-contract.ts';

export const tables: Tables = {
  entries: `
    create table memory_entries (
      seq bigserial primary key,
      id text not null unique,
      persona text not null,
      type text not null,
      text text not null,
      content json not null,
      tags text[] not null,
      embedding text not null,
      vector real[] not null,
      signs bit(256) not null,
      is_useful boolean not null default true,
      made_by text not null,
      handle text,
      by_model boolean not null,
      shared_from text,
      project text,
      source text,
      at timestamptz(3) not null default current_timestamp,
      words tsvector not null generated always as (to_tsvector('english', text || ' ' || regexp_replace(text, '[^[:alnum:]]+', ' ', 'g'))) stored,
      unique (persona, source)
    );
    create index memory_entries_persona_idx on memory_entries (persona, type, seq);
    create index memory_entries_words_idx on memory_entries using gin (words);
  `,
};
