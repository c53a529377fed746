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
  groups: `
    create table persona_members (
      group_id text not null,
      member text not null,
      added_by text not null,
      added_at timestamptz(3) not null default current_timestamp,
      primary key (group_id, member)
    );
    create index persona_members_member_idx on persona_members (member);
    create table persona_delegates (
      persona text not null,
      delegate text not null,
      until timestamptz(3),
      given_at timestamptz(3) not null default current_timestamp,
      primary key (persona, delegate)
    );
    create index persona_delegates_delegate_idx on persona_delegates (delegate);
  `,
  grants: `
    create table persona_grants (
      persona text not null,
      may text not null,
      granted_by text not null,
      granted_at timestamptz(3) not null default current_timestamp,
      primary key (persona, may)
    );
  `,
};
