/**
 * A memory is a row, with its vector: what is forgotten is gone from both. `source` names what it was made from, so that
 * it is made once for a persona. `signs` are the signs of the vector, which are compared first. `meaning` is the vector that
 * the model `embedder` has made, null until it has; of a text that the model does not take, there is an `embedder` without one.
 * A project has one current embedder: what another one made of its memories is made anew, and of those that belong to no
 * project, what was made by one that no project names any more.
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
  meanings: `
    alter table memory_entries add column embedder text, add column meaning real[], add column meaning_signs varbit;
    create index memory_entries_embedder_idx on memory_entries (embedder, seq);
    create table memory_embedders (
      project text not null,
      embedder text not null,
      is_current boolean not null default true,
      busy_by text,
      busy_until timestamptz(3),
      primary key (project, embedder)
    );
  `,
  meaningsOfProjects: `
    create index memory_entries_project_embedder_idx on memory_entries (project, embedder, seq);
    drop index memory_entries_embedder_idx;
  `,
};
