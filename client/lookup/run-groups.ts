/** Places of runs in the groups that their definitions name, as people see them. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlaceInLease } from '../../prisma/store/contract/lease-contract.ts';

/** `behind`: the run that has the group, where another one does; `ahead`: how many are before this one. */
export interface GroupReport {
  name: string;
  state: 'taken' | 'waiting';
  behind: string | null;
  ahead: number;
}

export function groupReport({ name, isTaken, holders, ahead }: PlaceInLease): GroupReport {
  return { name, state: isTaken ? 'taken' : 'waiting', behind: isTaken ? null : (holders[0] ?? null), ahead };
}

/** By handle, of those that go on. */
export async function groupsOf(
  { leases }: Pick<Store, 'leases'>,
  handles: readonly string[],
): Promise<ReadonlyMap<string, GroupReport>> {
  const places = (await leases.placesOf(handles)).filter(({ kind }) => kind === 'group');
  return new Map(places.map((place) => [place.handle, groupReport(place)]));
}
