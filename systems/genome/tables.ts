/**
 * An adapter is what a training has made, by the hash of what it computes: its files lie in a folder of that name. A gate is
 * what was found of exactly that adapter. A layer is an adapter that has passed its gate, and tags are names of layers:
 * the latest row of a tag counts, so the one before is there to go back to. A composition is a list of layers with their
 * scales; of a persona the latest row counts, too. A training is a row for whoever waits for what comes of it.
 */
import type { Tables } from '../../prisma/store/contract/system-contract.ts';

export const tables: Tables = {
  genome: `
    create table genome_adapters (
      id text primary key,
      name text not null,
      base_asked text not null,
      base_path text not null,
      base_hash text not null,
      manifest jsonb not null,
      dataset text not null,
      held_out text,
      match text not null,
      persona text not null,
      handle text not null,
      project text not null,
      at timestamptz(3) not null default current_timestamp
    );
    create table genome_gates (
      adapter text primary key references genome_adapters,
      has_passed boolean not null,
      verdict jsonb not null,
      at timestamptz(3) not null default current_timestamp
    );
    create table genome_layers (
      id text primary key references genome_adapters,
      domain text not null,
      claimed jsonb,
      persona text not null,
      project text not null,
      at timestamptz(3) not null default current_timestamp
    );
    create index genome_layers_domain_idx on genome_layers (domain);
    create table genome_tags (
      position bigserial primary key,
      tag text not null,
      layer text not null references genome_layers,
      persona text not null,
      project text not null,
      at timestamptz(3) not null default current_timestamp
    );
    create index genome_tags_tag_idx on genome_tags (tag, position);
    create table genome_compositions (
      id text primary key,
      base_asked text not null,
      base_hash text not null,
      layers jsonb not null,
      persona text not null,
      at timestamptz(3) not null default current_timestamp
    );
    create table genome_active (
      position bigserial primary key,
      persona text not null,
      composition text references genome_compositions,
      by text not null,
      at timestamptz(3) not null default current_timestamp
    );
    create index genome_active_persona_idx on genome_active (persona, position);
  `,
  origins: `
    alter table genome_layers add column origin jsonb;
  `,
  trainings: `
    create table genome_trainings (
      handle text not null,
      key text not null,
      name text not null,
      persona text not null,
      state text not null check (state in ('training', 'trained', 'failed')),
      at timestamptz(3) not null default current_timestamp,
      primary key (handle, key)
    );
    create index genome_trainings_name_idx on genome_trainings (name) where state <> 'failed';
    create index genome_trainings_persona_idx on genome_trainings (persona) where state <> 'failed';
  `,
  trainings_over: `
    alter table genome_trainings drop constraint genome_trainings_state_check;
    alter table genome_trainings add check (state in ('training', 'trained', 'over', 'failed'));
  `,
};
