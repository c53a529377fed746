/** A cycle is a row, and so is each of its transitions. Of a repository one cycle at most is not in IDLE: who is there holds it. */
import type { Tables } from '../../prisma/store/contract/system-contract.ts';

export const tables: Tables = {
  cycles: `
    create table cycle_cycles (
      id bigserial primary key,
      repository text not null,
      project text not null,
      handle text not null,
      persona text not null,
      state text not null,
      is_paused boolean not null default false,
      error text,
      goal text not null,
      context jsonb not null,
      changeset text,
      started_at timestamptz(3) not null,
      updated_at timestamptz(3) not null
    );
    create unique index cycle_cycles_under_way_idx on cycle_cycles (repository) where state <> 'IDLE';
    create index cycle_cycles_repository_idx on cycle_cycles (repository, id);
    create table cycle_transitions (
      id bigserial primary key,
      cycle bigint not null,
      repository text not null,
      from_state text not null,
      to_state text not null,
      at timestamptz(3) not null,
      context text
    );
    create index cycle_transitions_repository_idx on cycle_transitions (repository, id);
    create index cycle_transitions_cycle_idx on cycle_transitions (cycle, id);
  `,
};
