/** A person needs no row: whoever owns a run without one is a person. */
import type { Tables } from '../../prisma/store/contract/system-contract.ts';

export const tables: Tables = {
  entries: `
    create table persona_entries (
      id text primary key,
      kind text not null check (kind in ('human', 'model')),
      made_by text not null,
      made_at timestamptz(3) not null default current_timestamp
    );
    create table persona_trust (
      persona text not null,
      trusts text not null,
      given_by text not null,
      given_at timestamptz(3) not null default current_timestamp,
      primary key (persona, trusts)
    );
    create index persona_trust_trusts_idx on persona_trust (trusts);
  `,
};
